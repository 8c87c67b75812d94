package forecast

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"capcli/forecast/model"
)

// Hierarchy is series of which some are sums of others. The parts that are no
// sums, the bottom, come last, in their order.
type Hierarchy struct {
	Names []string   // of each series, top first
	sum   *mat.Dense // all by bottom
}

// NewHierarchy takes the summing matrix: row i says of how much of each part
// series i is made. Its last rows must be the parts themselves.
func NewHierarchy(names []string, sum [][]float64) (*Hierarchy, error) {
	if len(sum) == 0 || len(sum[0]) == 0 || len(sum) < len(sum[0]) {
		return nil, fmt.Errorf("hierarchy: %d series, want one or more parts and their sums: %w", len(sum), model.ErrUnfit)
	}
	if names != nil && len(names) != len(sum) {
		return nil, fmt.Errorf("hierarchy: %d names for %d series, want as many: %w", len(names), len(sum), model.ErrUnfit)
	}
	n, m := len(sum), len(sum[0])
	s := mat.NewDense(n, m, nil)
	for i, row := range sum {
		if len(row) != m {
			return nil, fmt.Errorf("hierarchy: row %d has %d parts, want %d as the first: %w", i+1, len(row), m, model.ErrUnfit)
		}
		for j, v := range row {
			part := 0.0
			if i-(n-m) == j {
				part = 1
			}
			if !model.IsFinite(v) || i >= n-m && v != part {
				return nil, fmt.Errorf("hierarchy: row %d, part %d is %g, want the parts themselves in the last %d rows: %w", i+1, j+1, v, m, model.ErrUnfit)
			}
			s.Set(i, j, v)
		}
	}
	return &Hierarchy{Names: names, sum: s}, nil
}

// Temporal is the hierarchy of one cycle of m steps, such as the 168 hours of a
// week, under sums of blocks of steps (Athanasopoulos et al. 2017, "Forecasting
// with temporal hierarchies"). blocks are lengths that divide m, longest first,
// such as 168 and 24; the single steps are added. One cycle is one column of
// what Reconcile takes; Cycles lays forecasts out for it.
func Temporal(m int, blocks ...int) (*Hierarchy, error) {
	if m < 1 {
		return nil, fmt.Errorf("hierarchy: a cycle of %d steps, want 1 or more: %w", m, model.ErrUnfit)
	}
	var names []string
	var sum [][]float64
	for _, length := range append(append([]int(nil), blocks...), 1) {
		if length < 1 || m%length != 0 {
			return nil, fmt.Errorf("hierarchy: blocks of %d steps, want a length that divides %d: %w", length, m, model.ErrUnfit)
		}
		for from := 0; from < m; from += length {
			row := make([]float64, m)
			for j := from; j < from+length; j++ {
				row[j] = 1
			}
			names, sum = append(names, fmt.Sprintf("%d x %d", length, from/length+1)), append(sum, row)
		}
	}
	return NewHierarchy(names, sum)
}

// Cycles turns forecasts of each level, longest blocks first, into the rows that
// Reconcile takes for a Temporal hierarchy: a row for each block of a cycle and a
// column for each cycle.
func Cycles(levels [][]float64, cycles int) ([][]float64, error) {
	var out [][]float64
	for k, v := range levels {
		if cycles < 1 || len(v) == 0 || len(v)%cycles != 0 {
			return nil, fmt.Errorf("hierarchy: level %d has %d values, want as many in each of %d cycles: %w", k+1, len(v), cycles, model.ErrUnfit)
		}
		each := len(v) / cycles
		for i := range each {
			row := make([]float64, cycles)
			for c := range row {
				row[c] = v[c*each+i]
			}
			out = append(out, row)
		}
	}
	return out, nil
}

// Blocks sums v in blocks of length steps that end where v ends; what is left
// over at the start is dropped. A missing value makes its block missing.
func Blocks(v []float64, length int) []float64 {
	if length < 1 {
		return nil
	}
	v = v[len(v)%length:]
	out := make([]float64, len(v)/length)
	for i, x := range v {
		out[i/length] += x
	}
	return out
}
