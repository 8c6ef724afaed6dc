/* Functions that make Arrays, of few elements, in NumPy. */

#include "speedups.h"

/* An ndarray of `size` bytes in memory that every library takes as it is; takes the reference to the dtype. */
PyObject *
allocate(int ndim, npy_intp *dims, PyArray_Descr *dtype, npy_intp size, int is_zero)
{
    npy_intp bytes = size + ALIGNMENT;
    PyObject *memory = is_zero ? PyArray_ZEROS(1, &bytes, NPY_UINT8, 0) : PyArray_EMPTY(1, &bytes, NPY_UINT8, 0);
    if (memory == NULL) {
        Py_DECREF(dtype);
        return NULL;
    }
    char *start = PyArray_BYTES((PyArrayObject *)memory);
    start += (ALIGNMENT - (uintptr_t)start % ALIGNMENT) % ALIGNMENT;
    PyObject *made = PyArray_NewFromDescr(&PyArray_Type, dtype, ndim, dims, NULL, start, NPY_ARRAY_CARRAY, NULL);
    if (made == NULL) {
        Py_DECREF(memory);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)made, memory) < 0) {
        Py_CLEAR(made);
    }
    return made;
}

/* Whether a creation function makes its array free, in NumPy: see `_choice.choice.chosen_home`. */
static int
is_made_in_numpy(void)
{
    if (PyDict_Size(house.unadopted)) { /* libraries that were not imported when it was asked last */
        PyObject *absent = PyObject_CallOneArg(house.are_absent, house.unadopted);
        Py_XDECREF(absent);
        if (absent != Py_True) {
            return 0;
        }
    }
    PyObject *chosen = what_is_chosen();
    if (chosen == NULL) {
        return 0;
    }
    if (chosen == Py_None || chosen == field(house.numpy, house.backend_at)) {
        return 1;
    }
    if (chosen != house.by_cost) {
        return 0;
    }
    PyObject *model = PyObject_GetAttr(house.state, names.model);
    Py_XDECREF(model);
    return model != NULL && model != Py_None;
}

/* Whether Python numbers take the standard's own dtypes here, and not those of a `default_dtypes`. */
int
are_defaults_usual(void)
{
    PyObject *defaults = NULL;
    if (PyContextVar_Get(house.defaults, NULL, &defaults) < 0 || defaults == NULL) {
        return 0;
    }
    Py_DECREF(defaults); /* from here on it is only compared */
    return defaults == house.usual_defaults;
}

/* An ndarray of few elements, aligned if `_memory.alignment` wants it; takes the reference to the dtype. */
static PyObject *
few(int ndim, npy_intp *dims, PyArray_Descr *dtype, npy_intp size, int is_zero)
{
    if (size >= house.small) {
        return allocate(ndim, dims, dtype, size, is_zero);
    }
    return is_zero ? PyArray_Zeros(ndim, dims, dtype, 0) : PyArray_Empty(ndim, dims, dtype, 0);
}

/* A free Array of what was made just now; takes the reference. */
static PyObject *
created(PyObject *native)
{
    npy_intp size = PyArray_NBYTES((PyArrayObject *)native);
    PyObject *array = wrap(native, house.numpy);
    if (array != NULL && size >= house.small) {
        *(PyObject **)((char *)array + house.second_at) = Py_NewRef(house.lendable);
    }
    return array;
}

#define FEW_AXES 8

/* The keywords `dtype` and `copy`, NULL where they are left out or None; false if there are others. */
static int
read_options(PyObject *const *args, Py_ssize_t given, PyObject *keywords, PyObject **dtype, PyObject **copy)
{
    *dtype = *copy = NULL;
    for (Py_ssize_t k = 0; keywords != NULL && k < PyTuple_GET_SIZE(keywords); k++) {
        PyObject *name = PyTuple_GET_ITEM(keywords, k), *value = args[given + k];
        PyObject **said = name == names.dtype ? dtype : name == names.copy ? copy : NULL;
        if (said == NULL) {
            return 0;
        }
        *said = value == Py_None ? NULL : value;
    }
    return *copy == NULL || *copy == Py_True || *copy == Py_False;
}

/* Whether a Python number may fill an array of this dtype; NumPy raises for integers out of its range. */
static int
fills(PyObject *value, PyArray_Descr *dtype)
{
    int type = type_of_number(Py_TYPE(value));
    return type == NPY_DOUBLE ? PyTypeNum_ISFLOAT(dtype->type_num) || PyTypeNum_ISCOMPLEX(dtype->type_num)
                              : type == NPY_INT64 ? PyTypeNum_ISNUMBER(dtype->type_num) : type == dtype->type_num;
}

/* A free Array of few elements in memory of its own: zero, of one value, or as it comes.

The first letter of the function tells which. Takes the reference to the dtype. */
static PyObject *
filled(int letter, int ndim, npy_intp *dims, PyArray_Descr *dtype, npy_intp size, PyObject *value)
{
    PyObject *made = few(ndim, dims, dtype, size, letter == 'z');
    if (made == NULL) {
        return leave();
    }
    if ((letter == 'f' || letter == 'o')
        && PyArray_FillWithScalar((PyArrayObject *)made, letter == 'f' ? value : names.one) < 0) {
        Py_DECREF(made);
        return leave();
    }
    return created(made);
}

/* `zeros`, `ones`, `empty` and `full` of a Python number, of few elements. */
PyObject *
quick_fill(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    npy_intp dims[FEW_AXES], elements = 1;
    int ndim = 0, is_full = call->sign == 'f';
    Py_ssize_t named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    if (given != 1 + is_full || named > !is_full || (is_full && type_of_number(Py_TYPE(args[1])) < 0)
        || (named && PyTuple_GET_ITEM(keywords, 0) != names.dtype)) {
        return NULL;
    }
    PyObject *shape = args[0];
    if (Py_TYPE(shape) == &PyLong_Type) {
        ndim = 1;
    }
    else if (Py_TYPE(shape) == &PyTuple_Type && PyTuple_GET_SIZE(shape) <= FEW_AXES) {
        ndim = (int)PyTuple_GET_SIZE(shape);
    }
    else {
        return NULL;
    }
    for (int i = 0; i < ndim; i++) {
        PyObject *length = Py_TYPE(shape) == &PyTuple_Type ? PyTuple_GET_ITEM(shape, i) : shape;
        dims[i] = Py_TYPE(length) == &PyLong_Type ? PyLong_AsSsize_t(length) : -1;
        if (dims[i] < 0 || dims[i] > house.large) {
            return leave();
        }
        elements *= dims[i] ? dims[i] : 1;
        if (elements > house.large) {
            return NULL;
        }
    }
    if (!is_made_in_numpy()) {
        return leave();
    }
    PyArray_Descr *dtype = NULL;
    if (!is_full) {
        dtype = dtype_for(named ? args[given] : NULL);
    }
    else if (are_defaults_usual()) {
        dtype = PyArray_DescrFromType(type_of_number(Py_TYPE(args[1])));
    }
    if (dtype == NULL) {
        return leave();
    }
    npy_intp size = elements * PyDataType_ELSIZE(dtype);
    if (size >= house.modest || !is_plain(dtype)) {
        Py_DECREF(dtype);
        return NULL;
    }
    return filled(call->sign, ndim, dims, dtype, size, is_full ? args[1] : NULL);
}

/* `zeros_like` and the others of a few elements in NumPy. */
PyObject *
quick_like(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    int is_full = call->sign == 'f', by_size;
    PyObject *wanted, *copy;
    if (given != 1 + is_full || Py_TYPE(args[0]) != house.array || field(args[0], house.home_at) != house.numpy
        || !read_options(args, given, keywords, &wanted, &copy) || copy != NULL || !stays(house.numpy, &by_size)) {
        return NULL;
    }
    PyObject *native = field(args[0], house.native_at);
    if (native == NULL || !PyArray_CheckExact(native)) {
        return NULL;
    }
    PyArrayObject *like = (PyArrayObject *)native;
    PyArray_Descr *dtype = (PyArray_Descr *)Py_XNewRef((PyObject *)PyArray_DESCR(like));
    if (wanted != NULL) {
        Py_DECREF(dtype);
        dtype = dtype_for(wanted);
    }
    if (dtype == NULL) {
        return leave();
    }
    npy_intp size = PyArray_SIZE(like) * PyDataType_ELSIZE(dtype), dims[FEW_AXES];
    int ndim = PyArray_NDIM(like);
    if (size >= house.modest || ndim > FEW_AXES || !is_plain(dtype) || (is_full && !fills(args[1], dtype))) {
        Py_DECREF(dtype);
        return NULL;
    }
    memcpy(dims, PyArray_DIMS(like), ndim * sizeof *dims);
    return filled(call->sign, ndim, dims, dtype, size, is_full ? args[1] : NULL);
}

/* `eye` of few elements, with ones on the main diagonal. */
PyObject *
quick_eye(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    npy_intp dims[2];
    PyObject *wanted, *copy;
    if (given < 1 || given > 2 || !read_options(args, given, keywords, &wanted, &copy) || copy != NULL) {
        return NULL;
    }
    for (int i = 0; i < 2; i++) {
        PyObject *length = i < given && args[i] != Py_None ? args[i] : args[0];
        dims[i] = Py_TYPE(length) == &PyLong_Type ? PyLong_AsSsize_t(length) : -1;
        if (dims[i] <= 0 || dims[i] > house.large) {
            return leave();
        }
    }
    PyArray_Descr *dtype = is_made_in_numpy() ? dtype_for(wanted) : NULL;
    if (dtype == NULL) {
        return leave();
    }
    npy_intp step = PyDataType_ELSIZE(dtype), size = dims[0] * dims[1] * step;
    if (size >= house.modest || !is_plain(dtype)) {
        Py_DECREF(dtype);
        return NULL;
    }
    PyObject *made = few(2, dims, dtype, size, 1);
    char *at = made == NULL ? NULL : PyArray_BYTES((PyArrayObject *)made);
    for (npy_intp i = 0; made != NULL && i < (dims[0] < dims[1] ? dims[0] : dims[1]); i++) {
        if (PyArray_SETITEM((PyArrayObject *)made, at + i * (dims[1] + 1) * step, names.one) < 0) {
            Py_CLEAR(made);
        }
    }
    return made == NULL ? leave() : created(made);
}

/* Write a Python number to memory of its type; false with an error for an integer that does not fit. */
static int
put(char *at, int type, PyObject *value)
{
    if (type == NPY_DOUBLE) {
        *(double *)at = PyFloat_AS_DOUBLE(value);
        return 1;
    }
    if (type == NPY_BOOL) {
        *(npy_bool *)at = value == Py_True;
        return 1;
    }
    long long integer = PyLong_AsLongLong(value);
    *(npy_int64 *)at = (npy_int64)integer;
    return !(integer == -1 && PyErr_Occurred());
}

/* Whether an int64 fits a dtype of integers. */
static inline int
fits(npy_int64 number, PyArray_Descr *dtype)
{
    int bits = 8 * (int)PyDataType_ELSIZE(dtype), is_unsigned = PyTypeNum_ISUNSIGNED(dtype->type_num);
    npy_int64 most = is_unsigned ? (bits == 64 ? NPY_MAX_INT64 : ((npy_int64)1 << bits) - 1)
                                 : (npy_int64)(((npy_uint64)1 << (bits - 1)) - 1);
    return number <= most && number >= (is_unsigned ? 0 : -most - 1);
}

/* Whether all of some int64 do. */
static int
all_fit(PyArrayObject *numbers, PyArray_Descr *dtype)
{
    const npy_int64 *at = PyArray_DATA(numbers);
    for (npy_intp i = 0; i < PyArray_SIZE(numbers); i++) {
        if (!fits(at[i], dtype)) {
            return 0;
        }
    }
    return 1;
}

/* What was made of Python numbers, in the dtype that is wanted, or NULL for its own: a free Array.

Takes the reference. */
static PyObject *
converted(PyObject *made, PyObject *wanted)
{
    PyArrayObject *numbers = (PyArrayObject *)made;
    PyArray_Descr *dtype = wanted == NULL ? NULL : dtype_for(wanted);
    if (wanted == NULL || dtype == PyArray_DESCR(numbers)) {
        Py_XDECREF(dtype);
        return created(made);
    }
    PyObject *cast = NULL;
    int came = PyArray_DESCR(numbers)->type_num;
    if (dtype != NULL && is_plain(dtype)
        && (!PyTypeNum_ISINTEGER(dtype->type_num) || came == NPY_BOOL
            || (came == NPY_INT64 && all_fit(numbers, dtype)))) {
        npy_intp size = PyArray_SIZE(numbers) * PyDataType_ELSIZE(dtype);
        Py_INCREF(dtype);
        cast = few(PyArray_NDIM(numbers), PyArray_DIMS(numbers), dtype, size, 0);
        if (cast != NULL && PyArray_CopyInto((PyArrayObject *)cast, numbers) < 0) {
            Py_CLEAR(cast);
        }
    }
    Py_XDECREF(dtype);
    Py_DECREF(made);
    return cast == NULL ? leave() : created(cast);
}

/* Write the Python numbers of a nest of lists and tuples to memory: of one class, and of these lengths. */
static int
put_all(char **at, npy_intp step, int type, PyTypeObject *kind, PyObject *nest, int ndim, const npy_intp *dims)
{
    if (ndim == 0) {
        int is_put = Py_TYPE(nest) == kind && put(*at, type, nest);
        *at += step;
        return is_put;
    }
    if ((Py_TYPE(nest) != &PyList_Type && Py_TYPE(nest) != &PyTuple_Type)
        || PySequence_Fast_GET_SIZE(nest) != dims[0]) {
        return 0;
    }
    for (npy_intp i = 0; i < dims[0]; i++) { /* nothing that is called here can cut it */
        if (!put_all(at, step, type, kind, PySequence_Fast_GET_ITEM(nest, i), ndim - 1, dims + 1)) {
            return 0;
        }
    }
    return 1;
}

/* A copy of a native array of an Array that lives free in NumPy, or of one that becomes another dtype; NULL otherwise.

An Array for which savings were missed hands that on, which Python does. */
static PyObject *
duplicate(PyObject *array, PyArray_Descr *dtype)
{
    PyObject *native = field(array, house.native_at);
    if (native == NULL || field(array, house.home_at) != house.numpy || !PyArray_CheckExact(native)
        || field(array, house.account_at) != NULL || PyDict_Size(house.accounts)) {
        return NULL;
    }
    PyArrayObject *from = (PyArrayObject *)native;
    PyArray_Descr *came = PyArray_DESCR(from);
    if (PyArray_NBYTES(from) >= house.modest) {
        return NULL;
    }
    PyObject *made;
    Py_INCREF(native);
    if (dtype == NULL || dtype == came) {
        made = PyArray_NewCopy(from, NPY_KEEPORDER);
    }
    else if (!is_plain(came) || !is_plain(dtype)
             || (PyTypeNum_ISCOMPLEX(came->type_num) && !PyTypeNum_ISCOMPLEX(dtype->type_num))) {
        made = NULL;
    }
    else {
        Py_INCREF(dtype);
        made = PyArray_NewLikeArray(from, NPY_KEEPORDER, dtype, 0);
        if (made != NULL && PyArray_CopyInto((PyArrayObject *)made, from) < 0) {
            Py_CLEAR(made);
        }
    }
    Py_DECREF(native);
    return made == NULL ? leave() : wrap(made, house.numpy);
}

/* An Array of an Array in NumPy: itself, if it has the dtype and no copy is asked for. */
static PyObject *
again(PyObject *array, PyObject *wanted, int copies, int may_copy)
{
    int by_size;
    PyObject *native = field(array, house.native_at);
    if (native == NULL || field(array, house.home_at) != house.numpy || !stays(house.numpy, &by_size)) {
        return NULL;
    }
    if (wanted == NULL) {
        return copies ? duplicate(array, NULL) : Py_NewRef(array);
    }
    PyArray_Descr *dtype = PyArray_CheckExact(native) ? dtype_for(wanted) : NULL;
    if (dtype == NULL) {
        return leave();
    }
    int is_same = dtype == PyArray_DESCR((PyArrayObject *)native);
    PyObject *result = is_same && !copies ? Py_NewRef(array) : is_same || may_copy ? duplicate(array, dtype) : NULL;
    Py_DECREF(dtype);
    return result;
}

/* `asarray` of few elements: of an Array, an ndarray, a Python number, or a nest of lists and tuples of these. */
PyObject *
quick_asarray(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    PyObject *wanted, *copy;
    if (given != 1 || !read_options(args, given, keywords, &wanted, &copy)) {
        return NULL;
    }
    PyObject *value = args[0], *made = NULL;
    if (Py_TYPE(value) == house.array) {
        return again(value, wanted, copy == Py_True, copy != Py_False);
    }
    if (copy == Py_False) {
        return NULL;
    }
    if (PyArray_CheckExact(value)) {
        PyArrayObject *array = (PyArrayObject *)value;
        npy_intp size = PyArray_NBYTES(array);
        PyArray_Descr *dtype = PyArray_DESCR(array);
        if (wanted != NULL || size >= house.modest || !PyArray_ISNOTSWAPPED(array) || !is_made_in_numpy()
            || PyDict_Contains(field(house.numpy, house.dtypes_at), (PyObject *)dtype) != 1) {
            return leave();
        }
        if (size < house.small) {
            made = PyArray_NewCopy(array, NPY_KEEPORDER);
        }
        else if (PyArray_IS_C_CONTIGUOUS(array)) {
            Py_INCREF(dtype);
            made = allocate(PyArray_NDIM(array), PyArray_DIMS(array), dtype, size, 0);
            if (made != NULL) {
                memcpy(PyArray_DATA((PyArrayObject *)made), PyArray_DATA(array), size);
            }
        }
        return made == NULL ? leave() : created(made);
    }
    npy_intp dims[FEW_AXES], elements = 1;
    int ndim = 0;
    PyObject *first = value;
    while (Py_TYPE(first) == &PyList_Type || Py_TYPE(first) == &PyTuple_Type) {
        if (ndim == FEW_AXES || PySequence_Fast_GET_SIZE(first) == 0) {
            return NULL;
        }
        dims[ndim] = PySequence_Fast_GET_SIZE(first);
        elements *= dims[ndim++];
        if (elements * 8 >= house.small) {
            return NULL;
        }
        first = PySequence_Fast_GET_ITEM(first, 0);
    }
    PyTypeObject *kind = Py_TYPE(first); /* one of Python's own, which stay */
    int type = type_of_number(kind);
    if (type < 0 || (wanted == NULL && !are_defaults_usual()) || !is_made_in_numpy()) {
        return leave();
    }
    made = PyArray_Empty(ndim, dims, PyArray_DescrFromType(type), 0);
    if (made == NULL) {
        return leave();
    }
    char *at = PyArray_BYTES((PyArrayObject *)made);
    if (!put_all(&at, PyArray_ITEMSIZE((PyArrayObject *)made), type, kind, value, ndim, dims)) {
        Py_DECREF(made);
        return leave();
    }
    return converted(made, wanted);
}

/* `from_dlpack` of an Array or an ndarray, which are taken as `asarray` takes them. */
PyObject *
quick_import(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    if (given != 1 || (keywords != NULL && PyTuple_GET_SIZE(keywords))
        || (Py_TYPE(args[0]) != house.array && !PyArray_CheckExact(args[0]))) {
        return NULL;
    }
    return quick_asarray(call, args, given, keywords);
}

/* `astype` of few elements in NumPy. */
PyObject *
quick_astype(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    PyObject *wanted, *copy;
    if (given != 2 || Py_TYPE(args[0]) != house.array || Py_TYPE(args[1]) != house.dtype
        || !read_options(args, given, keywords, &wanted, &copy) || wanted != NULL) {
        return NULL;
    }
    return again(args[0], args[1], copy != Py_False, 1);
}

/* `copy.copy(x)` of few elements in NumPy. */
PyObject *
quick_copy(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    int is_alone = given == 1 && (keywords == NULL || PyTuple_GET_SIZE(keywords) == 0);
    return is_alone && Py_TYPE(args[0]) == house.array ? duplicate(args[0], NULL) : NULL;
}

#define COUNT(type)                                                                                                    \
    for (npy_intp i = 0; i < length; i++) {                                                                            \
        ((type *)at)[i] = (type)(start + i * step);                                                                    \
    }

/* So many integers from `start` on, in a dtype of real numbers; NULL if there is none that counts, or they do not fit. */
static PyObject *
counted(npy_int64 start, npy_int64 step, npy_intp length, PyArray_Descr *dtype)
{
    int type = dtype->type_num, is_integer = PyTypeNum_ISINTEGER(type);
    npy_int64 last = length ? start + (length - 1) * step : start;
    if (is_integer ? !fits(start, dtype) || !fits(last, dtype) : type != NPY_DOUBLE && type != NPY_FLOAT) {
        return NULL;
    }
    Py_INCREF(dtype);
    PyObject *made = few(1, &length, dtype, length * PyDataType_ELSIZE(dtype), 0);
    if (made == NULL) {
        return NULL;
    }
    void *at = PyArray_DATA((PyArrayObject *)made);
    if (is_integer) { /* two's complement: the bits are those of the unsigned, too */
        switch (PyDataType_ELSIZE(dtype)) {
        case 8: COUNT(npy_int64); break;
        case 4: COUNT(npy_int32); break;
        case 2: COUNT(npy_int16); break;
        default: COUNT(npy_int8);
        }
    }
    else if (type == NPY_DOUBLE) {
        COUNT(double);
    }
    else {
        COUNT(float);
    }
    return made;
}

/* `arange` of integers: few. */
PyObject *
quick_arange(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    long long bounds[3] = {0, 0, 1};
    PyObject *wanted, *copy;
    if (given < 1 || given > 3 || !read_options(args, given, keywords, &wanted, &copy) || copy != NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < given; i++) {
        if (Py_TYPE(args[i]) != &PyLong_Type) {
            return NULL;
        }
        bounds[i] = PyLong_AsLongLong(args[i]);
        if ((bounds[i] == -1 && PyErr_Occurred()) || bounds[i] < -NPY_MAX_INT32 || bounds[i] > NPY_MAX_INT32) {
            return leave();
        }
    }
    long long start = given == 1 ? 0 : bounds[0], stop = given == 1 ? bounds[0] : bounds[1], step = bounds[2];
    if (step == 0 || (wanted == NULL && !are_defaults_usual()) || !is_made_in_numpy()) {
        return leave();
    }
    long long span = step > 0 ? stop - start : start - stop, stride = step > 0 ? step : -step;
    npy_intp length = span > 0 ? (npy_intp)((span + stride - 1) / stride) : 0;
    if (length * 8 >= house.modest) {
        return NULL;
    }
    PyArray_Descr *dtype = wanted == NULL ? PyArray_DescrFromType(NPY_INT64) : dtype_for(wanted);
    PyObject *made = dtype == NULL ? NULL : counted(start, step, length, dtype);
    Py_XDECREF(dtype);
    return made == NULL ? leave() : created(made);
}

/* `fftfreq` and `rfftfreq` of few samples, one unit of time apart. */
PyObject *
quick_frequencies(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    if (given != 1 || (keywords != NULL && PyTuple_GET_SIZE(keywords)) || Py_TYPE(args[0]) != &PyLong_Type) {
        return NULL;
    }
    Py_ssize_t samples = PyLong_AsSsize_t(args[0]);
    if (samples < 1 || samples * 8 >= house.modest || samples > house.modest || !are_defaults_usual()
        || !is_made_in_numpy()) {
        return leave();
    }
    int is_half = call->sign == 'r';
    npy_intp length = is_half ? samples / 2 + 1 : samples;
    PyObject *made = few(1, &length, PyArray_DescrFromType(NPY_DOUBLE), length * 8, 0);
    if (made == NULL) {
        return leave();
    }
    double *at = PyArray_DATA((PyArrayObject *)made), unit = 1.0 / (double)samples;
    for (npy_intp i = 0; i < length; i++) {
        at[i] = (double)(is_half || i < (samples + 1) / 2 ? i : i - samples) * unit;
    }
    return created(made);
}
