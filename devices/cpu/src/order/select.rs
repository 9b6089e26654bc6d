//! Selection: the algorithms by which PyTorch selects and sorts rows, which decide which of several equal elements
//! comes out, and in which order. Owns `nth_element`, `sort` and `partial_sort` as GNU's C++ library has them
//! (introselect and introsort by D. Musser, Introspective Sorting and Selection Algorithms, 1997), and the quickselect
//! of PyTorch's kthvalue.
//!
//! Each takes `less`. Where that is no order, as `<` of floats with NaN, the result is some arrangement of the
//! elements: loops that C++ leaves unguarded end at the ends of the slice here.

/// Puts the element there that an order by `less` has there, smaller ones before it and larger ones behind.
pub(crate) fn nth_element<T: Copy>(v: &mut [T], nth: usize, less: &impl Fn(T, T) -> bool) {
    if nth >= v.len() {
        return;
    }
    let (mut first, mut last) = (0, v.len());
    let mut depth = 2 * last.ilog2();
    while last - first > 3 {
        if depth == 0 {
            heap_select(&mut v[first..last], nth + 1 - first, less);
            v.swap(first, nth);
            return;
        }
        depth -= 1;
        let cut = first + partition(&mut v[first..last], less);
        if cut <= nth {
            first = cut;
        } else {
            last = cut;
        }
    }
    insertion_sort(&mut v[first..last], less);
}

/// Sorts by `less`; equal elements change places beyond 16.
pub(crate) fn sort<T: Copy>(v: &mut [T], less: &impl Fn(T, T) -> bool) {
    if v.is_empty() {
        return;
    }
    introsort(v, 2 * v.len().ilog2(), less);
    insertion_sort(v, less);
}

fn introsort<T: Copy>(v: &mut [T], mut depth: u32, less: &impl Fn(T, T) -> bool) {
    let mut last = v.len();
    while last > 16 {
        if depth == 0 {
            partial_sort(&mut v[..last], last, less);
            return;
        }
        depth -= 1;
        let cut = partition(&mut v[..last], less);
        introsort(&mut v[cut..last], depth, less);
        last = cut;
    }
}

/// Puts the first `middle` elements of an order by `less` there, in order.
pub(crate) fn partial_sort<T: Copy>(v: &mut [T], middle: usize, less: &impl Fn(T, T) -> bool) {
    heap_select(v, middle, less);
    sort_heap(&mut v[..middle], less);
}

/// Sorts each element into those before it.
pub(crate) fn insertion_sort<T: Copy>(v: &mut [T], less: &impl Fn(T, T) -> bool) {
    for i in 1..v.len() {
        let value = v[i];
        if less(value, v[0]) {
            v.copy_within(..i, 1);
            v[0] = value;
            continue;
        }
        let mut hole = i;
        while hole > 0 && less(value, v[hole - 1]) {
            v[hole] = v[hole - 1];
            hole -= 1;
        }
        v[hole] = value;
    }
}

/// Parts four elements or more by the median of three of them, and gives the place where the upper part begins, which
/// is neither of the ends.
fn partition<T: Copy>(v: &mut [T], less: &impl Fn(T, T) -> bool) -> usize {
    let (a, b, c) = (1, v.len() / 2, v.len() - 1);
    let median = match (less(v[a], v[b]), less(v[b], v[c]), less(v[a], v[c])) {
        (true, true, _) => b,
        (true, false, true) => c,
        (true, false, false) => a,
        (false, _, true) => a,
        (false, true, false) => c,
        (false, false, false) => b,
    };
    v.swap(0, median);
    let pivot = v[0];
    let (mut first, mut last) = (1, v.len());
    loop {
        while first < v.len() - 1 && less(v[first], pivot) {
            first += 1;
        }
        last -= 1;
        while last > 1 && less(pivot, v[last]) {
            last -= 1;
        }
        if first >= last {
            return first;
        }
        v.swap(first, last);
        first += 1;
    }
}

/// Makes a heap of the first `middle` elements of an order by `less`, the last of them on top.
fn heap_select<T: Copy>(v: &mut [T], middle: usize, less: &impl Fn(T, T) -> bool) {
    let (heap, rest) = v.split_at_mut(middle);
    make_heap(heap, less);
    for value in rest {
        if heap.first().is_some_and(|&top| less(*value, top)) {
            *value = replace_top(heap, *value, less);
        }
    }
}

/// Makes a heap, the largest element on top.
pub(crate) fn make_heap<T: Copy>(heap: &mut [T], less: &impl Fn(T, T) -> bool) {
    for parent in (0..heap.len() / 2).rev() {
        let value = heap[parent];
        adjust_heap(heap, parent, value, less);
    }
}

/// Replaces the top of a heap, and gives it.
pub(crate) fn replace_top<T: Copy>(heap: &mut [T], value: T, less: &impl Fn(T, T) -> bool) -> T {
    let top = heap[0];
    adjust_heap(heap, 0, value, less);
    top
}

/// Sorts a heap.
pub(crate) fn sort_heap<T: Copy>(heap: &mut [T], less: &impl Fn(T, T) -> bool) {
    for last in (1..heap.len()).rev() {
        let value = heap[last];
        heap[last] = replace_top(&mut heap[..last], value, less);
    }
}

/// Moves a hole down to a leaf, and the value from there up to its place.
fn adjust_heap<T: Copy>(heap: &mut [T], top: usize, value: T, less: &impl Fn(T, T) -> bool) {
    let len = heap.len();
    let (mut hole, mut child) = (top, top);
    while child < (len - 1) / 2 {
        child = 2 * (child + 1);
        if less(heap[child], heap[child - 1]) {
            child -= 1;
        }
        heap[hole] = heap[child];
        hole = child;
    }
    if len.is_multiple_of(2) && child == (len - 2) / 2 {
        child = 2 * child + 1;
        heap[hole] = heap[child];
        hole = child;
    }
    while hole > top && less(heap[(hole - 1) / 2], value) {
        heap[hole] = heap[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    heap[hole] = value;
}

/// Puts the element there that an ascending order has there, as PyTorch's kthvalue does: a quickselect with the median
/// of three (Numerical Recipes, 8.5). Inputs that make it quadratic are left to introselect.
pub(crate) fn quick_select<T: Copy>(v: &mut [T], k: usize, less: &impl Fn(T, T) -> bool) {
    let Some(mut right) = v.len().checked_sub(1) else { return };
    let mut left = 0;
    let mut budget = 16 * v.len() as u64;
    while right > left {
        if right == left + 1 {
            if less(v[right], v[left]) {
                v.swap(left, right);
            }
            return;
        }
        match budget.checked_sub((right - left) as u64) {
            Some(rest) => budget = rest,
            None => return nth_element(&mut v[left..=right], k - left, less),
        }
        v.swap(left + (right - left) / 2, left + 1);
        for (low, high) in [(left + 1, right), (left, right), (left + 1, left)] {
            if less(v[high], v[low]) {
                v.swap(low, high);
            }
        }
        let pivot = v[left];
        let (mut i, mut j) = (left + 1, right);
        loop {
            i += 1;
            while i < right && less(v[i], pivot) {
                i += 1;
            }
            j -= 1;
            while j > left && less(pivot, v[j]) {
                j -= 1;
            }
            if j < i {
                break;
            }
            v.swap(i, j);
        }
        v.swap(left, j);
        if j <= k {
            left = i;
        }
        if j >= k {
            right = j.saturating_sub(1);
        }
    }
}
