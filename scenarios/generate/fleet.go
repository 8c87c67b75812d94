package generate

import (
	"math"
	"slices"

	"capcli"
)

// Fleet is the replicas of a class of kind Service that one tenant pays for.
type Fleet struct {
	Name    string         // the class, and its tenant where there are several
	Replica capcli.Job     // what each replica wants, and whose it is
	Step    capcli.Seconds // how often their number may change
	wanted  func(at capcli.Seconds) int
}

// Wanted returns the number of replicas at a time since Workload.Start.
func (f *Fleet) Wanted(at capcli.Seconds) int { return f.wanted(at) }

// Fleets returns the replicas of the workload's services, class by class and tenant by tenant.
func (w Workload) Fleets() ([]Fleet, error) {
	classes, err := w.classes()
	if err != nil {
		return nil, err
	}
	var out []Fleet
	for i := range classes {
		if classes[i].Kind == Service {
			out = append(out, w.fleets(&classes[i])...)
		}
	}
	return out, nil
}

// WithoutServices returns the workload without its services. It reports false if nothing is left.
func (w Workload) WithoutServices() (Workload, bool) {
	w.Classes = slices.DeleteFunc(slices.Clone(w.Classes), func(c Class) bool { return c.Kind == Service })
	return w, len(w.Classes) > 0 || w.Mix != ""
}

// fleets returns the replicas of one class, by tenant. In each step their number is that which its first
// instant asks for, rounded: Replicas at the peak hour of a weekday, and Replicas / DaySwing half a day
// later. Tenants share them in proportion to their weights.
func (w *Workload) fleets(c *Class) []Fleet {
	t := w.recipeOf(c)
	r := c.rhythm()
	wanted := func(at capcli.Seconds) int {
		if at < t.from || at >= t.end {
			return 0
		}
		at -= (at - t.from) % c.cycle()
		return int(math.Round(float64(c.Replicas) * r.rateAt(float64(t.start)+float64(at))))
	}
	step := c.cycle()
	for _, edge := range []capcli.Seconds{t.from, t.end} {
		for edge %= step; edge > 0 && step > capcli.Minute; edge %= step { // so that a step begins at each edge
			step, edge = edge, step
		}
	}
	step = max(step, min(c.cycle(), capcli.Minute))
	if len(c.Tenants) < 2 {
		f := Fleet{Name: c.Name, Replica: t.job(0, c.gang(), 0), Step: step, wanted: wanted}
		if len(c.Tenants) == 1 {
			t.setTenant(&f.Replica, 0)
		}
		return []Fleet{f}
	}
	var parts shares
	for i := range c.Tenants {
		parts.add(c.Tenants[i].Weight)
	}
	var out []Fleet
	for i := range c.Tenants {
		f := Fleet{Name: c.Name + " " + c.Tenants[i].Name, Replica: t.job(0, c.gang(), 0), Step: step}
		t.setTenant(&f.Replica, i)
		f.wanted = func(at capcli.Seconds) (n int) {
			all := wanted(at)
			for k := range all { // the middle of each replica's place
				if parts.find((float64(k)+0.5)/float64(all)) == i {
					n++
				}
			}
			return n
		}
		out = append(out, f)
	}
	return out
}
