package parquet

import "slices"

// Vector holds rows of one column. Null has an entry for each row. So has one of the other
// slices, depending on the kind of the column: Ints for Int32, Int64 and Instant (microseconds
// since 1970), Floats for Float32 and Float64, Texts for Text. Its entry may have any value where
// the row is null.
type Vector struct {
	Null   []bool
	Ints   []int64
	Floats []float64
	Texts  []string
}

// NewVector makes a vector of n rows for a column of kind k.
func NewVector(k Kind, n int) Vector {
	switch k {
	case Text:
		return newVector(texts, n)
	case Float32, Float64:
		return newVector(fractions, n)
	default:
		return newVector(integers, n)
	}
}

func newVector(s sort, n int) Vector {
	v := Vector{Null: make([]bool, n)}
	switch s {
	case integers:
		v.Ints = make([]int64, n)
	case fractions:
		v.Floats = make([]float64, n)
	case texts:
		v.Texts = make([]string, n)
	}
	return v
}

// Len returns the number of rows.
func (v *Vector) Len() int { return len(v.Null) }

// Resize sets the number of rows to n. It keeps the memory of v where it is large enough; added
// rows have any value.
func (v *Vector) Resize(n int) {
	v.Null = resized(v.Null, n)
	switch {
	case v.Texts != nil:
		v.Texts = resized(v.Texts, n)
	case v.Floats != nil:
		v.Floats = resized(v.Floats, n)
	default:
		v.Ints = resized(v.Ints, n)
	}
}

func resized[T any](s []T, n int) []T {
	if n > len(s) {
		s = slices.Grow(s, n-len(s))
	}
	return s[:n]
}

// AddInt adds a row to a vector of integers or instants.
func (v *Vector) AddInt(n int64) { v.Null, v.Ints = append(v.Null, false), append(v.Ints, n) }

// AddFloat adds a row to a vector of fractions.
func (v *Vector) AddFloat(f float64) { v.Null, v.Floats = append(v.Null, false), append(v.Floats, f) }

// AddText adds a row to a vector of texts.
func (v *Vector) AddText(s string) { v.Null, v.Texts = append(v.Null, false), append(v.Texts, s) }

// AddNull adds a null row.
func (v *Vector) AddNull() {
	v.Resize(v.Len() + 1)
	last := v.Len() - 1
	v.Null[last] = true
	switch {
	case v.Texts != nil:
		v.Texts[last] = ""
	case v.Floats != nil:
		v.Floats[last] = 0
	default:
		v.Ints[last] = 0
	}
}

// Part returns rows from to to of v, in the same memory.
func (v *Vector) Part(from, to int) Vector {
	p := Vector{Null: v.Null[from:to]}
	switch {
	case v.Ints != nil:
		p.Ints = v.Ints[from:to]
	case v.Floats != nil:
		p.Floats = v.Floats[from:to]
	default:
		p.Texts = v.Texts[from:to]
	}
	return p
}

// spread moves the first values entries of v to the rows that are not null, in order.
func (v *Vector) spread(values int) {
	for row := v.Len() - 1; row >= values; row-- {
		if v.Null[row] {
			continue
		}
		values--
		switch {
		case v.Ints != nil:
			v.Ints[row] = v.Ints[values]
		case v.Floats != nil:
			v.Floats[row] = v.Floats[values]
		default:
			v.Texts[row] = v.Texts[values]
		}
	}
}
