package emit

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// text is a text being written.
type text struct{ bytes.Buffer }

func (t *text) line(format string, args ...any) {
	_, _ = fmt.Fprintf(t, format, args...)
	t.WriteByte('\n')
}

// remark writes a comment of one or more lines.
func (t *text) remark(format string, args ...any) {
	for _, l := range strings.FieldsFunc(fmt.Sprintf(format, args...), func(r rune) bool { return r == '\n' || r == '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029' }) {
		t.line("# %s", strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0xfffd {
				return ' '
			}
			return r
		}, l))
	}
}

// head writes the comments that every text begins with.
func (t *text) head(p *Plan, what string, left ...string) {
	t.remark("%s", what)
	for _, f := range p.Facts {
		t.remark("  %s", f)
	}
	for _, w := range p.Warning {
		t.remark("WARNING: %s", w)
	}
	for _, l := range left {
		t.remark("FILL IN: %s", l)
	}
}

func (t *text) writeTo(w io.Writer) error {
	_, err := t.WriteTo(w)
	return err
}

// heldPools returns the pools that are held on the day of the quotas, committed ones first.
func (p *Plan) heldPools() []Pool {
	var out []Pool
	for _, x := range p.Pools {
		if !x.Later {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b Pool) int { return rank(a.Terms) - rank(b.Terms) })
	return out
}

// rank orders the kinds of pools by what a GPU-hour more costs: nothing first.
func rank(terms string) int {
	return slices.Index([]string{"owned", "reserved", "spot", "on_demand"}, terms)
}

// divide splits whole GPUs among tenants by weight, to the largest remainders (Hamilton's method), so that
// the parts are whole and sum to gpus.
func divide(gpus int64, tenants []Tenant) []int64 {
	out := make([]int64, len(tenants))
	var sum float64
	for _, t := range tenants {
		sum += t.Weight
	}
	if sum <= 0 {
		return out
	}
	rest := make([]float64, len(tenants))
	order := make([]int, len(tenants))
	left := gpus
	for i, t := range tenants {
		exact := float64(gpus) * t.Weight / sum
		out[i] = int64(math.Floor(exact))
		rest[i], order[i] = exact-math.Floor(exact), i
		left -= out[i]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case rest[a] > rest[b]:
			return -1
		case rest[a] < rest[b]:
			return 1
		}
		return 0
	})
	for k := 0; left > 0; k, left = k+1, left-1 {
		out[order[k%len(order)]]++
	}
	return out
}
