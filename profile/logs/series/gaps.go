package series

import (
	"fmt"
	"math"
	"strings"

	"capcli"
)

// shownGaps is the number of gaps that a note lists with their dates.
const shownGaps = 3

// treat counts the gaps of out, notes them, and fills them according to Rules.Gaps. It fails
// where there are gaps and the rule is Refuse.
func (g *gridder) treat(out *Regular) error {
	if out.Gaps = out.Missing(); out.Gaps == 0 {
		return nil
	}
	if out.Gaps == len(out.Values) {
		if g.r.Gaps == Refuse {
			return g.t.fault(0, g.t.value, out.Name+": all values are missing", "check how it was exported")
		}
		return nil // there is no value from which to fill
	}
	what := g.say(out)
	switch g.r.Gaps {
	case Refuse:
		return g.t.fault(0, g.t.value, fmt.Sprintf("%s: %s", out.Name, what), "say what they mean: --gaps zero, linear, previous or missing")
	case Zero:
		for i, v := range out.Values {
			if math.IsNaN(v) {
				out.Values[i] = 0
			}
		}
	case Linear:
		Interpolate(out.Values)
	case Previous:
		for i := 1; i < len(out.Values); i++ {
			if math.IsNaN(out.Values[i]) {
				out.Values[i] = out.Values[i-1]
			}
		}
	default:
		out.Notes = append(out.Notes, what+"; left out, not filled (--gaps zero to count them as 0)")
		return nil
	}
	out.Filled = out.Gaps - out.Missing()
	out.Notes = append(out.Notes, fmt.Sprintf("%s; %s filled (--gaps %s)", what, capcli.Grouped(int64(out.Filled)), g.r.Gaps))
	return nil
}

// say returns the number of the gaps and the dates of the first of them, for a message.
func (g *gridder) say(out *Regular) string {
	var places []string
	gaps := 0
	for i := 0; i < len(out.Values); i++ {
		if !math.IsNaN(out.Values[i]) {
			continue
		}
		from := i
		for i+1 < len(out.Values) && math.IsNaN(out.Values[i+1]) {
			i++
		}
		if gaps++; gaps <= shownGaps {
			place := g.t.Text(out.Stamp(from), g.r.Zone)
			if i > from {
				place += " to " + g.t.Text(out.Stamp(i), g.r.Zone)
			}
			places = append(places, place)
		}
	}
	if gaps > shownGaps {
		places = append(places, "…")
	}
	return fmt.Sprintf("no data in %s of %s steps, in %s %s (%s)", capcli.Grouped(int64(out.Gaps)), capcli.Grouped(int64(len(out.Values))), capcli.Grouped(int64(gaps)), capcli.Plural(int64(gaps), "gap"), strings.Join(places, ", "))
}

// Interpolate fills missing values on a straight line between their neighbours, and at either
// end with the nearest value. It changes nothing where all values are missing.
func Interpolate(values []float64) {
	last := -1
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		for k := last + 1; k < i; k++ {
			if last < 0 {
				values[k] = v
				continue
			}
			w := float64(k-last) / float64(i-last)
			values[k] = values[last]*(1-w) + v*w
		}
		last = i
	}
	for k := last + 1; last >= 0 && k < len(values); k++ {
		values[k] = values[last]
	}
}
