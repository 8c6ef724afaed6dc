from numpy.rec import *
