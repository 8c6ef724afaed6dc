from numpy.char import *
