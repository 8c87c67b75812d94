package capcli

// Map returns what each item becomes by of, in order; nil where there are none.
func Map[T, R any](items []T, of func(T) R) []R {
	if len(items) == 0 {
		return nil
	}
	out := make([]R, len(items))
	for i, x := range items {
		out[i] = of(x)
	}
	return out
}

// Sum returns the sum over a list of what f makes of each item, added in the order of the list.
func Sum[T any, R ~int | ~int64 | ~float64](list []T, f func(T) R) R {
	var sum R
	for _, item := range list {
		sum += f(item)
	}
	return sum
}

// Bit returns 1 where is, else 0.
func Bit(is bool) int {
	if is {
		return 1
	}
	return 0
}
