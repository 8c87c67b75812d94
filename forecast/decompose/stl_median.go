package decompose

// middle reorders v and returns the two values in its middle after a partial sort (Chambers
// 1971, "Algorithm 410: Partial sorting", CACM 14; cuts by Singleton 1969). The program of
// Cleveland et al., which R runs, passes the two middle places in descending order, and the
// partial sort expects them ascending: where a cut falls between the two, it never looks at the
// upper one again. So the upper value may be above the true one, which changes the weights of a
// robust fit. This function does the same on purpose: a robust STL that differs from R's in the
// third digit cannot be compared with it.
func middle(v []float64) (upper, lower float64) {
	up, low := len(v)/2, (len(v)-1)/2
	places := [2]int{up, low}
	work := []span{{0, len(v) - 1, 0, 1}}
	for len(work) > 0 {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		// Even a short span at the very start is cut further: the insertion sort of the original
		// needs a value before the span to stop at.
		for s.a <= s.b && s.from < s.to {
			if short := s.to-s.from <= 10; short && s.from > 0 {
				insertion(v[s.from : s.to+1])
				break
			}
			left, right := cut(v, s.from, s.to)
			work = append(work, s.divide(left, right, places))
		}
	}
	return v[up], v[low]
}

// span is the part from..to of the values, and the range a..b of the requested places that lie
// in it.
type span struct{ from, to, a, b int }

// divide reduces s to the shorter side of a cut, with the places in it, and returns the other
// side.
func (s *span) divide(left, right int, places [2]int) (rest span) {
	rest = *s
	if left-s.from <= s.to-right {
		rest.from, s.to = right, left
		for s.a <= s.b && places[s.b] > s.to {
			s.b--
		}
		if s.a <= s.b {
			rest.a = s.b + 1
		}
		return rest
	}
	rest.to, s.from = left, right
	for s.a <= s.b && places[s.a] < s.from {
		s.a++
	}
	if s.a <= s.b {
		rest.b = s.a - 1
	}
	return rest
}

// cut partitions v[from..to] around the median of its two ends and its middle. Values up to left
// are at most that median, values from right on are at least that.
func cut(v []float64, from, to int) (left, right int) {
	mid := (from + to) / 2
	if v[from] > v[mid] {
		v[from], v[mid] = v[mid], v[from]
	}
	if v[to] < v[mid] {
		v[to], v[mid] = v[mid], v[to]
		if v[from] > v[mid] {
			v[from], v[mid] = v[mid], v[from]
		}
	}
	t := v[mid]
	left, right = to, from
	for {
		for left--; v[left] > t; left-- {
		}
		for right++; v[right] < t; right++ {
		}
		if right > left {
			return left, right
		}
		v[left], v[right] = v[right], v[left]
	}
}

// insertion sorts a few values.
func insertion(v []float64) {
	for i := 1; i < len(v); i++ {
		t, k := v[i], i-1
		for ; k >= 0 && v[k] > t; k-- {
			v[k+1] = v[k]
		}
		v[k+1] = t
	}
}
