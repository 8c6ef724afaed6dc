/* Functions of arrays and operators: what they are given is sorted, unwrapped, and handed to the native function. */

#include "speedups.h"
#include <math.h>

/* What a home's table calls a zero of Python's, as 0.0 == -0.0: its `repr`, which takes longer. A new reference. */
static PyObject *
zero(PyObject *value)
{
    PyTypeObject *kind = Py_TYPE(value);
    if (kind == &PyFloat_Type && !signbit(PyFloat_AS_DOUBLE(value))) {
        return Py_NewRef(names.zero_float);
    }
    return kind == &PyLong_Type ? Py_NewRef(names.zero) : PyObject_Repr(value);
}

/* What a home's table says of a Python scalar beside a native array: a borrowed reference, or NULL without an error. */
static PyObject *
looked_up(PyObject *table, PyObject *value, PyObject *home, PyObject *beside)
{
    PyObject *found = NULL, *written = NULL;
    PyObject *dtype = dtype_of(home, beside);
    if (dtype == NULL) {
        PyErr_Clear();
        return NULL;
    }
    int is_true = PyObject_IsTrue(value);
    if (is_true == 0) {
        written = zero(value);
    }
    else if (is_true == 1) {
        written = Py_NewRef(value);
    }
    PyObject *key = written == NULL ? NULL : PyTuple_Pack(3, written, (PyObject *)Py_TYPE(value), dtype);
    if (key != NULL) {
        found = PyDict_GetItemWithError(table, key);
        Py_DECREF(key);
    }
    Py_XDECREF(written);
    Py_DECREF(dtype);
    if (found == NULL) {
        PyErr_Clear();
    }
    return found;
}

/* A Python scalar as a native one beside a native array: a new reference, or NULL without an error. */
static PyObject *
constant(Call *call, PyObject *value, PyObject *home, PyObject *beside)
{
    if (call->sign && Py_TYPE(beside) == &PyDoubleArrType_Type && Py_TYPE(value) != &PyComplex_Type) {
        PyObject *made = PyObject_CallOneArg((PyObject *)&PyDoubleArrType_Type, value);
        if (made == NULL) {
            PyErr_Clear();
        }
        return made;
    }
    PyObject *found = looked_up(field(home, house.constants_at), value, home, beside);
    return Py_XNewRef(found);
}

/* A Python scalar in the dtype that is its own, as a native one of NumPy: a new reference, or NULL without an error. */
static PyObject *
alone(PyObject *value)
{
    int type = type_of_number(Py_TYPE(value));
    if (type < 0 || !are_defaults_usual()) {
        return leave();
    }
    PyObject *made = PyArray_ZEROS(0, NULL, type, 0);
    if (made != NULL && PyArray_FillWithScalar((PyArrayObject *)made, value) < 0) {
        Py_CLEAR(made);
    }
    return made == NULL ? leave() : made;
}

/* Whether an ndarray has a dtype that Arrays have, of this machine's byte order; an error is left behind. */
static inline int
has_dtype(PyObject *home, PyArrayObject *array)
{
    static PyArray_Descr *last = NULL; /* of NumPy's, which it has */
    PyArray_Descr *dtype = PyArray_DESCR(array);
    if (dtype == last && home == house.numpy) {
        return 1;
    }
    if (PyDict_Contains(field(home, house.dtypes_at), (PyObject *)dtype) != 1) {
        return 0;
    }
    if (home == house.numpy) {
        PyArray_Descr *before = last;
        last = (PyArray_Descr *)Py_NewRef((PyObject *)dtype);
        Py_XDECREF((PyObject *)before);
    }
    return 1;
}

/* Whether a scalar of NumPy's may stand for one of two arrays. */
static inline int
is_numpys_scalar(Call *call, PyObject *value)
{
    return call->array_count == 2 && call->gives_new_memory && PyArray_IsScalar(value, Generic)
           && PySet_Contains(house.operands, (PyObject *)Py_TYPE(value)) == 1;
}

static int
is_allowed(const Parameter *p, PyObject *value)
{
    int allowed = p->allowed;
    if (allowed & ANYTHING || (allowed & NOTHING && value == Py_None)) {
        return 1;
    }
    PyTypeObject *kind = Py_TYPE(value);
    if (kind == &PyLong_Type) {
        return allowed & (INTEGER | NUMBER | SCALAR);
    }
    if (kind == &PyBool_Type) {
        return allowed & (TRUTH | SCALAR);
    }
    if (kind == &PyFloat_Type) {
        return allowed & (NUMBER | SCALAR);
    }
    if (kind == &PyComplex_Type) {
        return allowed & SCALAR;
    }
    if (allowed & INTEGERS) {
        return are_integers(value);
    }
    if (allowed & WORD && kind == &PyUnicode_Type) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(p->words); i++) {
            PyObject *word = PyTuple_GET_ITEM(p->words, i);
            if (word == value || PyUnicode_Compare(word, value) == 0) {
                return 1;
            }
        }
    }
    return 0;
}

/* Sort the arguments by parameter: borrowed references. */
static int
sorted(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords, PyObject **values)
{
    if (given > call->positional) {
        return 0;
    }
    for (int i = 0; i < call->count; i++) {
        values[i] = i < given ? args[i] : NULL;
    }
    Py_ssize_t named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t k = 0; k < named; k++) {
        PyObject *name = PyTuple_GET_ITEM(keywords, k);
        int at = 0;
        while (at < call->count && call->parameters[at].name != name) {
            at++;
        }
        if (at == call->count || values[at] != NULL) {
            return 0;
        }
        values[at] = args[given + k];
    }
    for (int i = 0; i < call->count; i++) {
        if (values[i] == NULL && (values[i] = call->parameters[i].usual) == NULL) {
            return 0;
        }
    }
    return 1;
}

/* Whether the automatic choice has nothing to decide: see `_is_settled` and `_small_call` of `body`. */
static int
is_settled(Call *call, PyObject *const *values, PyObject *const *natives)
{
    PyObject *first = natives[call->arrays[0]];
    npy_intp size = size_of(first);
    if (size < 0) {
        return 0;
    }
    int is_small = size < limit_of(call, house.even_at);
    if (!is_small && (is_wide(first) || size >= limit_of(call, house.narrow_at))) {
        return 0;
    }
    for (int k = 1; k < call->array_count; k++) {
        int at = call->arrays[k];
        PyObject *other = natives[at];
        if (Py_TYPE(values[at]) != house.array && !PyArray_CheckExact(values[at])) {
            continue;
        }
        npy_intp others = size_of(other);
        if (others < 0 || (call->array_count == 2 && !is_small)) {
            return 0;
        }
        if (is_same_shape(first, other) && !call->multiplies) {
            continue;
        }
        npy_intp columns = others;
        if (call->multiplies && PyArray_CheckExact(other)) {
            PyArrayObject *array = (PyArrayObject *)other;
            int ndim = PyArray_NDIM(array);
            columns = ndim == 2 ? PyArray_DIM(array, 1) : ndim == 1 ? 1 : others;
        }
        if ((double)size * (double)columns >= (double)limit_of(call, house.product_at)) {
            return 0;
        }
    }
    return 1;
}

/* The same where some arrays are the user's own ndarrays, which are taken only if there are few elements. */
static int
are_few(Call *call, PyObject *const *values, PyObject *const *natives, int by_size)
{
    PyObject *first = natives[call->arrays[0]];
    double elements = (double)size_of(first);
    if (elements < 0) {
        return 0;
    }
    for (int k = 1; k < call->array_count; k++) {
        int at = call->arrays[k];
        if (Py_TYPE(values[at]) != house.array && !PyArray_CheckExact(values[at])) {
            continue;
        }
        npy_intp others = size_of(natives[at]);
        if (others < 0) {
            return 0;
        }
        if (!is_same_shape(first, natives[at])) {
            elements *= (double)others;
        }
    }
    return elements < (double)house.large && !(by_size && elements >= (double)limit_of(call, house.elements_at));
}

/* What NumPy's float64 has itself: a tenth of what the ufunc takes. */
static PyObject *
of_two_scalars(int sign, PyObject *left, PyObject *right)
{
    switch (sign) {
    case '+': return PyNumber_Add(left, right);
    case '-': return PyNumber_Subtract(left, right);
    case '*': return PyNumber_Multiply(left, right);
    case '/': return PyNumber_TrueDivide(left, right);
    case '=': return PyObject_RichCompare(left, right, Py_EQ);
    case '!': return PyObject_RichCompare(left, right, Py_NE);
    case '<': return PyObject_RichCompare(left, right, Py_LT);
    case 'l': return PyObject_RichCompare(left, right, Py_LE);
    case '>': return PyObject_RichCompare(left, right, Py_GT);
    default: return PyObject_RichCompare(left, right, Py_GE);
    }
}

/* Read what a native function says of its shortcut. */
static void
see(Call *call, PyObject *function)
{
    PyObject *said = PyObject_GetAttr(function, names.shortcut), *shortcut = NULL, *kinds = NULL;
    int axes = 0, is_finite = 0;
    if (said == NULL || !PyTuple_Check(said)
        || !PyArg_ParseTuple(said, "OO!ip", &shortcut, &PyTuple_Type, &kinds, &axes, &is_finite)
        || PyTuple_GET_SIZE(kinds) > call->array_count) {
        PyErr_Clear(); /* most have none */
        shortcut = NULL;
    }
    memset(call->kinds, 0, sizeof call->kinds); /* of the arrays that it does not tell of, which are left out then */
    for (int k = 0; shortcut != NULL && k < PyTuple_GET_SIZE(kinds); k++) {
        call->kinds[k] = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(kinds, k));
        if (PyErr_Occurred()) {
            PyErr_Clear();
            shortcut = NULL;
        }
    }
    PyObject *seen = call->seen, *before = call->shortcut;
    call->axes = axes;
    call->is_finite = is_finite;
    call->shortcut = Py_XNewRef(shortcut);
    call->seen = Py_NewRef(function);
    Py_XDECREF(said);
    Py_XDECREF(seen);
    Py_XDECREF(before);
}

/* Whether floats that lie one by one are all finite. */
static int
are_finite(PyArrayObject *array)
{
    int type = PyArray_DESCR(array)->type_num;
    if ((type != NPY_DOUBLE && type != NPY_FLOAT) || !PyArray_ISONESEGMENT(array)) {
        return 0;
    }
    const double *wide = PyArray_DATA(array);
    const float *narrow = PyArray_DATA(array);
    for (npy_intp i = 0; i < PyArray_SIZE(array); i++) {
        if (!isfinite(type == NPY_DOUBLE ? wide[i] : narrow[i])) {
            return 0;
        }
    }
    return 1;
}

/* What the shortcut gives, where it is the same; NULL without an error otherwise. */
static PyObject *
shortened(Call *call, PyObject *const *natives)
{
    PyObject *arguments[MOST + 1];
    size_t count = 0;
    int is_left_out = 0;
    for (int i = 0, k = 0; i < call->count; i++) {
        const Parameter *p = &call->parameters[call->order[i]];
        PyObject *native = natives[call->order[i]];
        if (p->role == PLAIN || native == Py_None) {
            if (native != p->usual) {
                return NULL;
            }
            is_left_out |= p->role != PLAIN;
            continue;
        }
        if (!PyArray_CheckExact(native) || is_left_out) {
            return NULL;
        }
        PyArrayObject *array = (PyArrayObject *)native;
        int type = PyArray_DESCR(array)->type_num;
        if (type >= 64 || !(call->kinds[k++] >> type & 1) || PyArray_SIZE(array) >= FEW
            || (count == 0 && (PyArray_NDIM(array) < call->axes || (call->is_finite && !are_finite(array))))) {
            return NULL;
        }
        arguments[++count] = native;
    }
    PyObject *shortcut = Py_NewRef(call->shortcut);
    PyObject *result = applied(shortcut, arguments + 1, count | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    Py_DECREF(shortcut);
    return result == NULL ? leave() : result;
}

/* Call the native function `name` with what stands in `natives`, and wrap the result. */
static PyObject *
called(Call *call, PyObject *home, PyObject *const *natives, int is_borrowed)
{
    PyObject *stack[MOST + 1];
    PyObject **arguments = stack + 1;
    for (int i = 0; i < call->count; i++) {
        arguments[i] = natives[call->order[i]];
    }
    PyObject *native;
    if (call->sign && Py_TYPE(arguments[0]) == &PyDoubleArrType_Type
        && Py_TYPE(arguments[1]) == &PyDoubleArrType_Type) {
        native = of_two_scalars(call->sign, arguments[0], arguments[1]);
    }
    else {
        PyObject *function = PyObject_GetAttr(home, call->name);
        if (function == NULL) {
            return leave();
        }
        size_t flags = (size_t)call->named_from | PY_VECTORCALL_ARGUMENTS_OFFSET;
        if (field(home, house.backend_at) != field(house.numpy, house.backend_at)) {
            native = PyObject_Vectorcall(function, arguments, flags, call->keywords);
        }
        else {
            if (function != call->seen) {
                see(call, function);
            }
            native = call->shortcut == NULL ? NULL : shortened(call, natives);
            if (native == NULL && !PyErr_Occurred()) {
                native = applied(function, arguments, flags, call->keywords);
            }
        }
        Py_DECREF(function);
    }
    if (native == NULL) {
        return leave();
    }
    if (is_borrowed && PyArray_Check(native)) {
        int is_new = PyArray_CheckExact(native) && PyArray_BASE((PyArrayObject *)native) == NULL;
        for (int i = 0; is_new && i < call->count; i++) {
            is_new = native != natives[i];
        }
        if (!is_new) {
            Py_DECREF(native); /* a view, it may be, of memory that the user may write to */
            return NULL;
        }
    }
    return call->result_class == NULL ? wrap(native, home) : wrap_all(native, home, call->result_class);
}

/* `x ** 2` and the like, for which another function stands: NULL without an error if none does. */
static PyObject *
power(PyObject *home, PyObject *native, PyObject *exponent)
{
    PyObject *name = looked_up(field(home, house.powers_at), exponent, home, native);
    if (name == NULL || name == Py_None) {
        return NULL;
    }
    PyObject *function = PyObject_GetAttr(home, name);
    if (function == NULL) {
        return leave();
    }
    PyObject *result = applied(function, &native, 1, NULL);
    Py_DECREF(function);
    return result == NULL ? leave() : wrap(result, home);
}

PyObject *
quick_call(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    PyObject *values[MOST], *natives[MOST], *result = NULL;
    int by_size, is_borrowed = 0;
    if (!sorted(call, args, given, keywords, values)) {
        return NULL;
    }
    int first = call->arrays[0];
    PyObject *home, *leading = values[first];
    if (Py_TYPE(leading) == house.array) {
        home = field(leading, house.home_at);
    }
    else if (call->takes_ndarrays && PyArray_CheckExact(leading)) {
        home = house.numpy;
    }
    else if (call->array_count == 2 && Py_TYPE(values[call->arrays[1]]) == house.array
             && (is_numpys_scalar(call, leading) || (call->parameters[first].role == WEAK && is_scalar(leading)))) {
        home = field(values[call->arrays[1]], house.home_at); /* as of `1 + x` */
    }
    else {
        return NULL;
    }
    if (!is_home(home) || !stays(home, &by_size)) {
        return NULL;
    }
    Py_INCREF(home);
    memset(natives, 0, sizeof natives);
    for (int i = 0; i < call->count; i++) {
        const Parameter *p = &call->parameters[i];
        PyObject *value = values[i];
        if (p->role == PLAIN) {
            if (!is_allowed(p, value)) {
                goto done;
            }
            natives[i] = Py_NewRef(value);
        }
        else if (Py_TYPE(value) == house.array) {
            PyObject *native = field(value, house.native_at);
            if (native == NULL || field(value, house.home_at) != home) {
                goto done;
            }
            natives[i] = Py_NewRef(native);
        }
        else if (PyArray_CheckExact(value)) {
            int may_be = call->takes_ndarrays || (call->gives_new_memory && call->array_count == 2);
            if (!may_be || home != house.numpy || !has_dtype(home, (PyArrayObject *)value)) {
                leave();
                goto done;
            }
            natives[i] = Py_NewRef(value);
            is_borrowed = 1;
        }
        else if (is_numpys_scalar(call, value)) {
            if (home != house.numpy || (natives[i] = PyArray_FromScalar(value, NULL)) == NULL) {
                leave();
                goto done;
            }
        }
        else if (p->role != WEAK || !is_scalar(value)) {
            if (i == first || !is_allowed(p, value)) {
                goto done;
            }
            natives[i] = Py_NewRef(value);
        }
    }
    for (int k = 0; k < call->array_count; k++) { /* now that all arrays are known, the scalars beside them */
        int at = call->arrays[k];
        if (natives[at] != NULL) {
            continue;
        }
        int beside = call->parameters[at].beside;
        if (Py_TYPE(values[beside]) == Py_TYPE(values[at]) && home == house.numpy) {
            natives[at] = alone(values[at]); /* beside another scalar of its class */
            if (natives[at] == NULL) {
                goto done;
            }
            continue;
        }
        if (natives[beside] == NULL || natives[beside] == values[beside]) {
            goto done; /* beside another scalar, or an ndarray */
        }
        if (call->is_power && at == call->order[1]) {
            int stands = PyDict_Contains(house.powers, values[at]);
            if (stands != 0) {
                if (stands == 1 && (!by_size || is_settled(call, values, natives))) {
                    result = power(home, natives[first], values[at]);
                }
                leave();
                goto done;
            }
        }
        natives[at] = constant(call, values[at], home, natives[beside]);
        if (natives[at] == NULL) {
            goto done;
        }
    }
    if (is_borrowed ? are_few(call, values, natives, by_size) : (!by_size || is_settled(call, values, natives))) {
        result = called(call, home, natives, is_borrowed);
    }
done:
    for (int i = 0; i < call->count; i++) {
        Py_XDECREF(natives[i]);
    }
    Py_DECREF(home);
    return result;
}

/* A function that joins the Arrays of a list or a tuple, its first parameter. */
PyObject *
quick_join(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    PyObject *values[MOST], *natives[MOST], *home = NULL, *result = NULL, *joined = NULL;
    int by_size = 0, is_borrowed = 0;
    if (!sorted(call, args, given, keywords, values)) {
        return NULL;
    }
    PyObject *sequence = values[0];
    if ((Py_TYPE(sequence) != &PyList_Type && Py_TYPE(sequence) != &PyTuple_Type)
        || PySequence_Fast_GET_SIZE(sequence) == 0) {
        return NULL;
    }
    for (int i = 1; i < call->count; i++) {
        if (!is_allowed(&call->parameters[i], values[i])) {
            return NULL;
        }
        natives[i] = values[i];
    }
    npy_intp elements = 0;
    Py_ssize_t length = PySequence_Fast_GET_SIZE(sequence);
    joined = PyList_New(length);
    if (joined == NULL) {
        return leave();
    }
    if (PySequence_Fast_GET_SIZE(sequence) != length) {
        goto done; /* the garbage collector has called what changed it */
    }
    for (Py_ssize_t i = 0; i < length; i++) { /* calls nothing that could */
        PyObject *one = PySequence_Fast_GET_ITEM(sequence, i), *native = one, *here = house.numpy;
        if (Py_TYPE(one) == house.array) {
            native = field(one, house.native_at);
            here = field(one, house.home_at);
        }
        else if (call->takes_ndarrays && PyArray_CheckExact(one) && has_dtype(here, (PyArrayObject *)one)) {
            is_borrowed = 1;
        }
        else {
            leave();
            goto done;
        }
        if (native == NULL || !is_home(here) || (home != NULL && here != home)) {
            goto done;
        }
        if (home == NULL) {
            home = Py_NewRef(here);
        }
        PyList_SET_ITEM(joined, i, Py_NewRef(native));
        if (home == house.numpy) {
            npy_intp size = size_of(native);
            if (size < 0) {
                goto done;
            }
            elements += size;
        }
    }
    if (!stays(home, &by_size) || (by_size && elements >= limit_of(call, house.elements_at))
        || (is_borrowed && elements >= house.large)) {
        goto done;
    }
    natives[0] = joined;
    result = called(call, home, natives, is_borrowed);
done:
    Py_XDECREF(home);
    Py_DECREF(joined);
    return result;
}

/* Whether one native array of NumPy may stand where another is: of its shape and dtype. */
static int
is_like(PyObject *one, PyObject *other)
{
    if (PyArray_CheckExact(one) && PyArray_CheckExact(other)) {
        return PyArray_DESCR((PyArrayObject *)one) == PyArray_DESCR((PyArrayObject *)other) && is_same_shape(one, other);
    }
    return Py_TYPE(one) == Py_TYPE(other) && PyArray_IsScalar(one, Generic);
}

/* `x += y` of few elements: `x` gets the native array of the sum. */
PyObject *
quick_update(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    if (given != 2 || Py_TYPE(args[0]) != house.array || PyDict_Size(house.kept)) {
        return NULL;
    }
    PyObject *array = args[0], *before = field(array, house.native_at);
    if (before == NULL || field(array, house.home_at) != house.numpy || size_of(before) >= house.large) {
        return NULL;
    }
    PyObject *result = quick_call(call, args, given, keywords);
    if (result == NULL) {
        return NULL;
    }
    PyObject *native = field(result, house.native_at);
    before = field(array, house.native_at);
    if (field(result, house.home_at) != house.numpy || field(array, house.home_at) != house.numpy || before == NULL
        || !is_like(before, native)) {
        Py_DECREF(result);
        return NULL;
    }
    *(PyObject **)((char *)array + house.native_at) = Py_NewRef(native);
    Py_DECREF(result);
    forget(array);
    Py_DECREF(before);
    return Py_NewRef(array);
}

/* `divmod` of few floats of one dtype, which NumPy divides once for both. */
PyObject *
quick_divmod(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    PyObject *natives[2];
    int by_size;
    if (given != 2 || (keywords != NULL && PyTuple_GET_SIZE(keywords)) || !stays(house.numpy, &by_size)) {
        return NULL;
    }
    for (int i = 0; i < 2; i++) {
        if (Py_TYPE(args[i]) != house.array || field(args[i], house.home_at) != house.numpy) {
            return NULL;
        }
        natives[i] = field(args[i], house.native_at);
        if (natives[i] == NULL || !PyArray_CheckExact(natives[i]) || size_of(natives[i]) >= FEW) {
            return NULL;
        }
    }
    int type = PyArray_DESCR((PyArrayObject *)natives[0])->type_num;
    if ((type != NPY_FLOAT && type != NPY_DOUBLE) || PyArray_DESCR((PyArrayObject *)natives[1])->type_num != type
        || !is_same_shape(natives[0], natives[1])
        || (by_size && size_of(natives[0]) >= limit_of(call, house.even_at))) {
        return NULL;
    }
    Py_INCREF(natives[0]);
    Py_INCREF(natives[1]);
    PyObject *both = PyNumber_Divmod(natives[0], natives[1]);
    Py_DECREF(natives[0]);
    Py_DECREF(natives[1]);
    return both == NULL ? leave() : wrap_all(both, house.numpy, (PyObject *)&PyTuple_Type);
}

/* Whether NumPy asks for a call of a ufunc, and not for its `reduce` and the like. */
static inline int
is_call(PyObject *method)
{
    static const char name[] = "__call__";
    return PyUnicode_Check(method) && PyUnicode_IS_COMPACT_ASCII(method)
           && PyUnicode_GET_LENGTH(method) == sizeof name - 1
           && memcmp(PyUnicode_1BYTE_DATA(method), name, sizeof name - 1) == 0;
}

/* `np.exp(x)` and `ndarray + x`, as NumPy asks for them: what our function of that name gives. */
PyObject *
quick_ufunc(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    if (given < 4 || (keywords != NULL && PyTuple_GET_SIZE(keywords)) || !is_call(args[2])) {
        return NULL;
    }
    for (Py_ssize_t i = 3; i < given; i++) {
        PyObject *kind = (PyObject *)Py_TYPE(args[i]);
        if (kind != (PyObject *)house.array && kind != (PyObject *)&PyArray_Type
            && PySet_Contains(house.operands, kind) != 1) {
            return leave();
        }
    }
    PyObject *ours = PyDict_GetItemWithError(house.ufuncs, args[1]);
    if (ours == NULL) {
        return leave();
    }
    Py_INCREF(ours);
    PyObject *result = PyObject_Vectorcall(ours, args + 3, (size_t)given - 3, NULL);
    Py_DECREF(ours);
    return result == NULL ? leave() : result;
}
