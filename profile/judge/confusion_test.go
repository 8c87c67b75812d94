package judge

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"testing"
)

// confusion counts what was made up against what was found.
type confusion map[Kind]map[Kind]int

func (c confusion) add(want, got Kind) {
	if c[want] == nil {
		c[want] = map[Kind]int{}
	}
	c[want][got]++
}

// rates returns the share of a kind that was found, and of what was found that was of the kind.
func (c confusion) rates(k Kind) (recall, precision float64) {
	all, found := 0, 0
	for want, row := range c {
		for got, n := range row {
			if want == k {
				all += n
			}
			if got == k {
				found += n
			}
		}
	}
	hit := float64(c[k][k])
	return hit / float64(all), hit / float64(found)
}

func (c confusion) String() string {
	var b strings.Builder
	for _, d := range Descriptions {
		row := c[d.Kind]
		if row == nil {
			continue
		}
		recall, precision := c.rates(d.Kind)
		fmt.Fprintf(&b, "| %s | %.3f | %.3f |", d.Kind, recall, precision)
		var other []string
		for got, n := range row {
			if got != d.Kind {
				other = append(other, fmt.Sprintf("%s %d", got, n))
			}
		}
		sort.Strings(other)
		fmt.Fprintf(&b, " %s |\n", strings.Join(other, ", "))
	}
	return b.String()
}

// Each kind of minute and of hour is told in its ranges: 95 % of it is found, and 95 % of what is found
// is it. -v prints the matrices.
func TestConfusion(t *testing.T) {
	minutes, hours := confusion{}, confusion{}
	draws := 40
	for i := range signatures {
		g := &signatures[i]
		for n := range draws {
			length := 60
			if n >= 12 {
				length = 6
			}
			spells, _, each, job := g.play(uint64(1000*i+n), length, 1, fullView)
			for k := range each {
				if length == 60 && k >= 10 {
					break
				}
				var one Tally
				one.Add(&each[k], 60_000_000)
				minutes.add(g.want, mostTime(Resolve(one, &job)))
			}
			if length == 60 {
				v := Overall(Resolve(spells, &job), math.NaN())
				if v.Kind == NeverBusy || v.Kind == MostlyIdle {
					v.Kind = Idle
				}
				hours.add(g.want, v.Kind)
			}
		}
	}
	for name, c := range map[string]confusion{"minutes": minutes, "hours": hours} {
		for k := range c {
			if recall, precision := c.rates(k); !(recall >= 0.95 && precision >= 0.95) {
				t.Errorf("%s, %s: recall %.3f, precision %.3f, want 0.95 each", name, k, recall, precision)
			}
		}
		if testing.Verbose() || t.Failed() {
			t.Logf("%s\n%s", name, c)
		}
	}
}

func mostTime(found []Found) Kind {
	best := Found{Kind: Unknown}
	for _, f := range found {
		if f.Time > best.Time {
			best = f
		}
	}
	return best.Kind
}
