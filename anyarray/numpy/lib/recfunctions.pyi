from numpy.lib.recfunctions import *
