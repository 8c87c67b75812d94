package validate

import (
	"cmp"
	"slices"
	"strconv"

	"capcli"
)

// Group is the fidelity of some of the jobs.
type Group struct {
	Name string `json:"group"`
	Fidelity
}

// Groups are the fidelity by size, tenant and week, and where the most waiting is wrong.
type Groups struct {
	Sizes   []Group      `json:"by_size"`
	Tenants []Group      `json:"by_tenant"` // the ten that waited longest in all
	Weeks   []Group      `json:"by_week"`   // of 7 days from the first job
	Wrong   []TenantWeek `json:"most_wrong_tenant_weeks"`
}

// TenantWeek is what the jobs of a tenant waited that were queued in one week.
type TenantWeek struct {
	Week      int            `json:"week"`
	Tenant    string         `json:"tenant"`
	Recorded  capcli.Seconds `json:"recorded_s"`
	Simulated capcli.Seconds `json:"simulated_s"`
}

// wrong is how far the simulated waits of the week are from the recorded ones.
func (w *TenantWeek) wrong() capcli.Seconds {
	return max(w.Simulated-w.Recorded, w.Recorded-w.Simulated)
}

const mostNamed = 10 // tenants and tenant-weeks that are named

// sizeEnds are the upper ends of the ranges of sizes.
var sizeEnds = [...]int64{1, 4, 16, 64}

// GroupsBy compares the simulated starts with the recorded ones group by group. Jobs queued before
// from are not measured. unit is what counts as 1 in the ranges of sizes.
func (l *Log) GroupsBy(starts []capcli.Time, from capcli.Time, unit int64) Groups {
	first := l.begin()
	weekOf := func(j *Job) int { return int(capcli.Seconds(j.Queued-first) / week) }
	sizes := gatherBy(l, starts, from, func(j *Job) int {
		k, _ := slices.BinarySearch(sizeEnds[:], max(1, j.Units/unit))
		return k
	})
	weeks := gatherBy(l, starts, from, weekOf)
	tenants := gatherBy(l, starts, from, func(j *Job) string { return j.Tenant })
	g := Groups{
		Sizes: named(sizes, cmp.Compare, sizeName), Weeks: named(weeks, cmp.Compare, strconv.Itoa),
		Tenants: named(tenants, func(a, b string) int {
			return cmp.Or(cmp.Compare(tenants[b].waited(), tenants[a].waited()), cmp.Compare(a, b))
		}, func(name string) string { return name }),
	}
	g.Tenants = g.Tenants[:min(mostNamed, len(g.Tenants))]
	type key struct {
		week   int
		tenant string
	}
	for k, w := range gatherBy(l, starts, from, func(j *Job) key { return key{weekOf(j), j.Tenant} }) {
		t := TenantWeek{Week: k.week, Tenant: k.tenant, Recorded: w.waited()}
		for _, s := range w.simulated {
			t.Simulated += s
		}
		g.Wrong = append(g.Wrong, t)
	}
	slices.SortFunc(g.Wrong, func(a, b TenantWeek) int {
		return cmp.Or(cmp.Compare(b.wrong(), a.wrong()), cmp.Compare(a.Week, b.Week), cmp.Compare(a.Tenant, b.Tenant))
	})
	g.Wrong = g.Wrong[:min(mostNamed, len(g.Wrong))]
	return g
}

// pairs are the waits of a group of jobs.
type pairs struct{ recorded, simulated []capcli.Seconds }

func (p *pairs) waited() capcli.Seconds {
	var sum capcli.Seconds
	for _, w := range p.recorded {
		sum += w
	}
	return sum
}

// gatherBy returns the waits of the measured jobs by a key.
func gatherBy[K comparable](l *Log, starts []capcli.Time, from capcli.Time, key func(*Job) K) map[K]*pairs {
	groups := map[K]*pairs{}
	for i := range l.Jobs {
		j := &l.Jobs[i]
		if j.Queued < from {
			continue
		}
		k := key(j)
		p := groups[k]
		if p == nil {
			p = &pairs{}
			groups[k] = p
		}
		p.recorded = append(p.recorded, j.Wait())
		p.simulated = append(p.simulated, capcli.Seconds(starts[i]-j.Queued))
	}
	return groups
}

func named[K comparable](groups map[K]*pairs, order func(a, b K) int, name func(K) string) []Group {
	keys := make([]K, 0, len(groups))
	for k := range groups {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, order)
	out := make([]Group, len(keys))
	for i, k := range keys {
		out[i] = Group{name(k), compareWaits(groups[k].recorded, groups[k].simulated)}
	}
	return out
}

func sizeName(k int) string {
	switch {
	case k == len(sizeEnds):
		return strconv.FormatInt(sizeEnds[k-1]+1, 10) + "+"
	case k == 0:
		return "1"
	}
	return strconv.FormatInt(sizeEnds[k-1]+1, 10) + "-" + strconv.FormatInt(sizeEnds[k], 10)
}
