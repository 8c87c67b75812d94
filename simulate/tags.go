package simulate

import (
	"cmp"
	"fmt"
	"slices"

	"capcli"
)

// Payer is the jobs of one tenant that have the same tags.
type Payer struct {
	Tenant int // index in Record.Tenants
	Tags   *capcli.Tags
}

// payerKey finds a payer by the tags of a job.
type payerKey struct {
	tenant int
	tags   *capcli.Tags
}

// payerText finds a payer by its tags. Tags are the same if their texts are: two readers may have
// made them.
type payerText struct {
	tenant int
	tags   string
}

// payers are the tenants and tags of the jobs of a run: see Record.Payers.
type payers struct {
	e        *engine
	byTags   map[payerKey]int32
	byText   map[payerText]int32
	last     int32 // number that payerOf returned last, for lastTags
	lastTags *capcli.Tags
}

// payerOf returns the number of the tenant and the tags of l, from 1. It adds the tags of the tenant
// to those of l.
func (ps *payers) payerOf(l *Live) int32 {
	rec := &ps.e.ledger.rec
	if n := ps.last; n > 0 && ps.lastTags == l.Tags && rec.Payers[n-1].Tenant == l.tenant.index {
		l.Tags = rec.Payers[n-1].Tags
		return n
	}
	ps.lastTags = l.Tags
	key := payerKey{l.tenant.index, l.Tags}
	n, known := ps.byTags[key]
	if !known {
		n = ps.addPayer(l)
		ps.byTags[key] = n
	}
	ps.last = n
	l.Tags = rec.Payers[n-1].Tags
	return n
}

// addPayer returns the number of the payer of l, whose tags are new, and adds it where its text is new
// too.
func (ps *payers) addPayer(l *Live) int32 {
	if ps.byTags == nil {
		ps.byTags, ps.byText = map[payerKey]int32{}, map[payerText]int32{}
		ps.e.meter.beginTags()
	}
	rec := &ps.e.ledger.rec
	tags := l.Tags.Merge(l.tenant.Tags)
	text := payerText{l.tenant.index, tags.Key()}
	if n, known := ps.byText[text]; known {
		return n
	}
	rec.Payers = append(rec.Payers, Payer{l.tenant.index, tags})
	ps.e.meter.byPayer = append(ps.e.meter.byPayer, group{})
	n := int32(len(rec.Payers))
	ps.byText[text] = n
	return n
}

// beginTags begins to count by tags. All jobs so far have none, and neither has a job of number 0
// later on.
func (m *meter) beginTags() {
	none := m.all
	none.wait.over.values = slices.Clone(none.wait.over.values)
	none.wait.cut.values = slices.Clone(none.wait.cut.values)
	none.possible, none.done = 0, 0
	for i := range m.byTenant {
		none.possible += m.byTenant[i].possible
		none.done += m.byTenant[i].done
	}
	m.byPayer = append(m.byPayer, none)
}

// tagged records a stay of a job with tags, as stay does for its tenant.
func (g *ledger) tagged(p, payer int, milli int64, from, to, lost capcli.Seconds) {
	pool := &g.rec.Pools[p]
	spare := pool.spare(milli)
	use := func(m int) *Use {
		month := &g.rec.Months[m]
		if month.Tagged == nil {
			month.Tagged = make([][]Use, len(g.rec.Pools))
		}
		return useAt(&month.Tagged[p], payer)
	}
	g.eachMonth(from, to, func(m int, dt int64) {
		u := use(m)
		u.Used += capcli.GPUTime(milli * dt)
		u.Billed += capcli.GPUTime((milli + spare) * dt)
		u.Spare += capcli.GPUTime(spare * dt)
	})
	if lost > 0 {
		use(g.monthAt(max(from, to-1))).Lost += capcli.GPUTime(milli * int64(lost))
	}
	if rest := pool.unheld(to - from); rest > 0 {
		u := use(g.monthAt(to))
		u.Billed += capcli.GPUTime((milli + spare) * int64(rest))
		u.Spare += capcli.GPUTime(spare * int64(rest))
	}
}

// Untagged returns the use of pool p in month m by the jobs without tags, by tenant.
func (r *Record) Untagged(m, p int) []Use {
	month := &r.Months[m]
	out := slices.Clone(month.Use[p])
	if month.Tagged == nil {
		return out
	}
	for k, u := range month.Tagged[p] {
		if u == (Use{}) { // its tenant may have held nothing of the pool
			continue
		}
		left := &out[r.Payers[k].Tenant]
		left.Used -= u.Used
		left.Billed -= u.Billed
		left.Spare -= u.Spare
		left.Lost -= u.Lost
	}
	return out
}

// checkTagged fails if jobs with tags held more of pool p in month m than their tenant.
func (r *Record) checkTagged(m, p int) error {
	if r.Months[m].Tagged == nil {
		return nil
	}
	for t, u := range r.Untagged(m, p) {
		if u.Used < 0 || u.Billed < 0 || u.Lost < 0 {
			return &AccountError{fmt.Sprintf("pool %s, month from %s: jobs of tenant %s with tags held more than all its jobs, by %d (thousandths of GPU-seconds)",
				r.Pools[p].Name, r.Months[m].Start, r.Tenants[t], -min(u.Used, u.Billed, u.Lost))}
		}
	}
	return nil
}

// TagResult is the figures of the jobs with one value of one tag.
type TagResult struct {
	capcli.Tag // its Value is "" for the jobs that lack the tag
	JobStats
}

// tags returns the figures of the jobs by tag and value. Each job counts once for every tag.
func (m *meter) tags(payers []Payer) []TagResult {
	sets := make([]*capcli.Tags, len(payers))
	for i := range payers {
		sets[i] = payers[i].Tags
	}
	var out []TagResult
	for _, name := range capcli.TagNames(sets) {
		byValue := map[string][]*group{}
		for i := range m.byPayer {
			value := ""
			if i > 0 {
				value = sets[i-1].Value(name)
			}
			if m.byPayer[i].jobs > 0 {
				byValue[value] = append(byValue[value], &m.byPayer[i])
			}
		}
		for value, groups := range byValue {
			out = append(out, TagResult{capcli.Tag{Name: name, Value: value}, sumGroups(groups).result()})
		}
	}
	slices.SortFunc(out, func(a, b TagResult) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value)) })
	return out
}

// sumGroups returns the jobs of several groups as one.
func sumGroups(groups []*group) *group {
	var sum group
	for _, g := range groups {
		sum.jobs += g.jobs
		sum.finished += g.finished
		sum.preempted += g.preempted
		sum.wait.over.join(&g.wait.over)
		sum.wait.cut.join(&g.wait.cut)
		sum.jct += g.jct
		sum.slowdown += g.slowdown
		sum.possible += g.possible
		sum.done += g.done
	}
	return &sum
}

// join adds the lengths of o.
func (t *tally) join(o *tally) {
	t.zeros += o.zeros
	t.sum += o.sum
	t.values = append(t.values, o.values...)
	t.sorted = false
}
