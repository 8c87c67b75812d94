package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"capcli"
)

// Places say what lies between the regions of pools, of data and of users. Without it data moves in no
// time, no copy stays, and a latency between two regions is not known.
type Places struct {
	MiBps  []Link // bandwidth in MiB a second; the first that matches two places, in either order, applies
	Millis []Link // latency in milliseconds, likewise; both ways or one way, as Data.Within counts it
	Keep   []Keep // the first that matches a place says how many copies of data stay there; none where none does
}

// Link is a figure of the way between two places. From and To are places in which the two ends lie; "" is
// any.
type Link struct {
	From, To string
	Value    int64 // above 0
}

// Keep is room for copies of data sets at a place. Where it is full, the copies that were used least
// recently go, of those that no job uses. A data set that does not fit is not kept.
type Keep struct {
	Place string
	MiB   int64 // 0 is without limit
}

// linkBetween returns the value of the first link between two places; 0 if there is none.
func linkBetween(links []Link, a, b string) int64 {
	for i := range links {
		l := &links[i]
		if capcli.IsWithin(a, l.From) && capcli.IsWithin(b, l.To) || capcli.IsWithin(b, l.From) && capcli.IsWithin(a, l.To) {
			return l.Value
		}
	}
	return 0
}

// isNear reports whether a place is known to be within the latency that d states.
func (p *Places) isNear(d *capcli.Data, place string) bool {
	from := cmp.Or(d.UsersAt, d.Home)
	if d.Within <= 0 {
		return true
	}
	if place == "" || from == "" {
		return false
	}
	if isLocal(from, place) {
		return true
	}
	ms := int64(0)
	if p != nil {
		ms = linkBetween(p.Millis, from, place)
	}
	return ms > 0 && ms <= int64(d.Within)
}

// isLocal reports whether data whose home is a place need not be moved to run a job at another: the two
// are in one region, or the home is everywhere or a whole provider.
func isLocal(home, place string) bool {
	return home == "" || capcli.RegionOf(home) == capcli.RegionOf(place) || capcli.IsWithin(place, home)
}

// whyBarred says what keeps the jobs of a Reach out of a pool.
type whyBarred uint8

const (
	notBarred whyBarred = iota
	byResidency
	byLatency
)

// bars returns what keeps jobs with some data out of a pool.
func (cs *classes) bars(d *capcli.Data, pool *Pool) whyBarred {
	place := pool.Place.String()
	switch {
	case d == nil:
		return notBarred
	case !d.MayRunAt(place):
		return byResidency
	case !cs.e.cfg.Places.isNear(d, place):
		return byLatency
	}
	return notBarred
}

// isBarred reports whether the data or the users of the jobs of c keep them out of pool p, and notes why.
func (cs *classes) isBarred(c *Reach, p int) bool {
	why := cs.bars(c.data, &cs.e.c.pools[p])
	if why == notBarred {
		return false
	}
	if c.barred == nil {
		c.barred = map[int]whyBarred{}
	}
	c.barred[p] = why
	return true
}

// whyBarred returns why a job can run nowhere because of its data or its users; "" where that is not why.
func (c *Reach) whyBarred() string {
	if len(c.barred) == 0 || len(c.ranks) > 0 {
		return ""
	}
	d := c.data
	for _, why := range c.barred {
		if why == byResidency {
			text := "may run only in " + strings.Join(d.Only, ", ")
			if len(d.Only) == 0 {
				text = "may not run in " + strings.Join(d.Not, ", ")
			}
			return text + ", and no pool that it could use is known to be there"
		}
	}
	return fmt.Sprintf("must run within %d ms of its users in %s, and no pool that it could use is known to be", d.Within, cmp.Or(d.UsersAt, d.Home, "no stated place"))
}

// Barred is a pool that jobs could use but for where their data may be, or for the latency to their
// users.
type Barred struct {
	Pool      string `json:"pool"`
	Place     string `json:"place"`
	Residency int64  `json:"jobs_kept_out_by_residency"`
	Latency   int64  `json:"jobs_kept_out_by_latency"`
}

// barred returns the pools that residency or latency kept from jobs that came, in order of pools.
func (cs *classes) barred() []Barred {
	rows := make([]Barred, len(cs.e.c.pools))
	for _, c := range cs.list {
		for p, why := range c.barred {
			switch why {
			case byResidency:
				rows[p].Residency += c.jobs
			case byLatency:
				rows[p].Latency += c.jobs
			case notBarred:
			}
		}
	}
	for p := range rows {
		rows[p].Pool, rows[p].Place = cs.e.c.pools[p].Name, cs.e.c.pools[p].Place.String()
	}
	return slices.DeleteFunc(rows, func(b Barred) bool { return b.Residency+b.Latency == 0 })
}

// Transfer is what a job would have to move to start in a pool now.
type Transfer struct {
	From, To string // regions
	MiB      int64  // to the pool
	Back     int64  // from the pool when the job has ended
	Time     capcli.Seconds
}

// Coster says what it costs to run l in a pool, in any unit, if it starts now: GPU time, and what it has
// to move. Pools of one rank are tried from the cheapest on, and in their order where two cost the same.
type Coster interface {
	Cost(l *Live, pool int, t Transfer) int64
}

// findByCost returns room for l in the cheapest of the pools that has some.
func (m *moving) findByCost(c *Cluster, l *Live, pools []int) []Slice {
	list := make([]costed, 0, 8)
	for _, p := range pools {
		list = append(list, costed{p, m.e.cfg.Coster.Cost(l, p, m.transfer(l, p))})
	}
	slices.SortStableFunc(list, func(a, b costed) int { return cmp.Compare(a.cost, b.cost) })
	for i := range list {
		m.one[0] = list[i].pool
		if s := m.e.findIn(c, l, m.one[:]); len(s) > 0 {
			return s
		}
	}
	return nil
}

type costed struct {
	pool int
	cost int64
}

// Move is data that was moved for jobs of a tenant, between two regions, in a month.
type Move struct {
	Month, Pool, Tenant int    // indices into the record; the pool is that in which the jobs ran
	From, To            string // regions, or places as far as they are known
	MiB                 int64
	Count               int64          // transfers
	Time                capcli.Seconds // for which jobs held GPUs and waited for it
}

// Stored is the time that copies which jobs of a tenant made stayed in a region in a month.
type Stored struct {
	Month, Pool, Tenant int
	Place               string
	MiBSeconds          int64
}
