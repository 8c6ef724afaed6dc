from numpy.ma import *
