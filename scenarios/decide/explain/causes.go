package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"capcli"
	"capcli/simulate/cause"
)

// total is the time that jobs waited for one set of causes, over all runs.
type total struct {
	cause    cause.Cause
	jobs     int64
	time     capcli.Seconds
	tenants  map[string]capcli.Seconds
	models   map[string]capcli.Seconds
	sizes    map[int]capcli.Seconds
	quarters map[int]capcli.Seconds // by year times 4 plus quarter (0 to 3)
	weekdays [7]capcli.Seconds      // Sunday first
	weeks    bool                   // whether the runs are long enough to compare weekdays
}

// totals sums the waits of all runs by cause, longest first.
func (x *explanation) totals() []*total {
	by := map[cause.Cause]*total{}
	sum := func(c cause.Cause) *total {
		if by[c] == nil {
			by[c] = &total{
				cause: c, tenants: map[string]capcli.Seconds{}, models: map[string]capcli.Seconds{},
				sizes: map[int]capcli.Seconds{}, quarters: map[int]capcli.Seconds{},
				weeks: x.Runs[0].Result.Ended >= 14*capcli.Day,
			}
		}
		return by[c]
	}
	for run, w := range x.waits {
		if x.Metric.Name == stillWaiting {
			_, still := w.Unfinished()
			for _, r := range still {
				sum(r.Cause).time += r.Time
			}
			continue
		}
		for _, r := range w.Rows() {
			sum(r.Cause).add(&r, x.Runs[run].Result.Record.Tenants)
		}
	}
	return slices.SortedFunc(maps.Values(by), func(a, b *total) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.cause, b.cause))
	})
}

func (s *total) add(r *cause.Row, tenants []string) {
	s.jobs += r.Jobs
	s.time += r.Time
	for i, t := range r.Tenants {
		if t > 0 {
			s.tenants[cmp.Or(tenants[i], "(none)")] += t
		}
	}
	for _, m := range r.Models {
		s.models[cmp.Or(strings.Trim(m.Partition+"/"+m.GPUModel, "/"), "(any)")] += m.Time
	}
	for _, m := range r.Sizes {
		s.sizes[m.GPUs] += m.Time
	}
	for _, m := range r.Months {
		s.quarters[4*m.Year+int(m.Month-1)/3] += m.Time
	}
	for d, t := range r.Weekdays {
		s.weekdays[d] += t
	}
}

func (x *explanation) causeText(c cause.Cause) string {
	quota := c&cause.Quota != 0
	c &^= cause.Quota
	texts := capcli.Map(c.Split(), x.oneCause)
	text := strings.Join(texts, "; or ")
	if len(texts) > 1 {
		text = "either of: " + text
	}
	switch held := x.oneCause(cause.Quota); {
	case quota && text == "":
		return held
	case quota:
		return held + ", and " + text
	}
	return text
}

func (x *explanation) oneCause(c cause.Cause) string {
	switch c {
	case cause.Order:
		return "held back by the policy (" + x.base.Scenario.PolicyName() + "), though it could have started"
	case cause.Capacity:
		return "no free GPU of the right kind"
	case cause.Ceiling:
		return "no free GPU, and on-demand at its limit"
	case cause.SpotShort:
		return "no free GPU, and no spot GPU available"
	case cause.Together:
		return "free GPUs, but not together"
	case cause.Host:
		return "free GPUs, but not the CPUs or memory beside them"
	case cause.Patience:
		return "on-demand or spot GPUs available, but its patience had not ended"
	case cause.Down:
		return "node down"
	case cause.SpotGone:
		return "spot GPUs reclaimed"
	case cause.Outside:
		return "capacity not delivered yet, or ended"
	case cause.OtherModel:
		return "only GPUs of another model free"
	case cause.OtherShare:
		return "only GPUs of another partition free"
	case cause.Quota:
		return "tenant at its quota"
	case cause.Lead:
		return "ordered, not yet delivered (lead time)"
	case cause.Shortage:
		return "nodes could not be had (shortage)"
	case cause.Unordered:
		return "nodes could be bought, but none were ordered"
	case cause.NoDomain:
		return "free GPUs, but no rack or other domain with room (near)"
	}
	return c.String()
}

// mostly names the weekdays, quarters, tenants, models and sizes that account for most of the time;
// "" if none does.
func (s *total) mostly() string {
	if s.time == 0 || s.jobs == 0 {
		return ""
	}
	var out []string
	if days := s.days(); s.weeks && days != "" {
		out = append(out, days)
	}
	if q := s.quarterText(); q != "" {
		out = append(out, q)
	}
	for _, of := range []map[string]capcli.Seconds{s.tenants, s.models} {
		if name, ok := leading(of, s.time); ok {
			out = append(out, name)
		}
	}
	if gpus, ok := leading(s.sizes, s.time); ok {
		out = append(out, fmt.Sprintf("jobs of %d %s", gpus, capcli.Plural(int64(gpus), "GPU")))
	}
	if len(out) == 0 {
		return ""
	}
	return "mostly " + strings.Join(out, ", ")
}

// leading returns the key with at least three fifths of the time. It reports false if there is
// none, or if there are fewer than two keys.
func leading[K cmp.Ordered](of map[K]capcli.Seconds, all capcli.Seconds) (K, bool) {
	var none K
	if len(of) < 2 {
		return none, false
	}
	for _, k := range slices.Sorted(maps.Keys(of)) {
		if 5*of[k] >= 3*all {
			return k, true
		}
	}
	return none, false
}

var dayNames = [7]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}

// days names the shortest range of weekdays of submission, at most three days, with at least three
// fifths of the time; "" if there is none.
func (s *total) days() string {
	for n := 1; n <= 3; n++ {
		best, at := capcli.Seconds(-1), 0
		for first := range 7 {
			var sum capcli.Seconds
			for d := range n {
				sum += s.weekdays[(first+d)%7]
			}
			if sum > best {
				best, at = sum, first
			}
		}
		if 5*best < 3*s.time {
			continue
		}
		if n == 1 {
			return dayNames[at]
		}
		return dayNames[at] + " to " + dayNames[(at+n-1)%7]
	}
	return ""
}

// quarterText names the fewest quarters with at least three fifths of the time; "" if these are
// more than half of all quarters.
func (s *total) quarterText() string {
	keys := slices.Sorted(maps.Keys(s.quarters))
	if len(keys) < 2 {
		return ""
	}
	byTime := slices.Clone(keys)
	slices.SortStableFunc(byTime, func(a, b int) int { return cmp.Compare(s.quarters[b], s.quarters[a]) })
	var sum capcli.Seconds
	for n, k := range byTime[:len(byTime)/2] {
		if sum += s.quarters[k]; 5*sum < 3*s.time {
			continue
		}
		chosen := slices.Sorted(slices.Values(byTime[:n+1]))
		var names []string
		for _, q := range chosen {
			name := fmt.Sprintf("Q%d", q%4+1)
			if keys[0]/4 != keys[len(keys)-1]/4 {
				name += fmt.Sprintf(" %d", q/4)
			}
			names = append(names, name)
		}
		return strings.Join(names, " and ")
	}
	return ""
}

func (out *Result) waits(x *explanation) {
	if len(x.waits) == 0 {
		return
	}
	out.LookedAt = x.lookedAt()
	sums := x.totals()
	var all capcli.Seconds
	for _, s := range sums {
		all += s.time
	}
	for _, s := range sums {
		out.Causes = append(out.Causes, s.json(x, all))
	}
	again := map[string]*total{}
	all = 0
	for _, w := range x.waits {
		for _, r := range w.LaterWaits() {
			key := r.Cause.String()
			if again[key] == nil {
				again[key] = &total{cause: r.Cause}
			}
			again[key].time += r.Time
			all += r.Time
		}
	}
	for _, s := range slices.SortedFunc(maps.Values(again), func(a, b *total) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.cause, b.cause))
	}) {
		out.Again = append(out.Again, s.json(x, all))
	}
}

func (s *total) json(x *explanation, all capcli.Seconds) Cause {
	out := Cause{Text: x.causeText(s.cause), Share: float64(s.time) / float64(max(all, 1)), Time: s.time, Jobs: s.jobs, Mostly: s.mostly()}
	for _, c := range s.cause.Split() {
		out.Causes = append(out.Causes, c.String())
	}
	out.Tenants, out.Models = byAmount(s.tenants), byAmount(s.models)
	for _, gpus := range slices.Sorted(maps.Keys(s.sizes)) {
		out.Sizes = append(out.Sizes, SizedTime{gpus, s.sizes[gpus]})
	}
	for d := range 7 {
		if day := (d + 1) % 7; s.weekdays[day] > 0 {
			out.Weekdays = append(out.Weekdays, NamedTime{dayNames[day], s.weekdays[day]})
		}
	}
	return out
}

// byAmount returns the times by name, largest first.
func byAmount(of map[string]capcli.Seconds) []NamedTime {
	out := capcli.Map(slices.Sorted(maps.Keys(of)), func(name string) NamedTime { return NamedTime{name, of[name]} })
	slices.SortStableFunc(out, func(a, b NamedTime) int { return cmp.Compare(b.Time, a.Time) })
	return out
}
