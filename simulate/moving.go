package simulate

import (
	"cmp"
	"slices"

	"capcli"
)

// moving is the data that lies in regions other than its home.
type moving struct {
	e       *engine
	places  *Places
	regions []string // by pool
	rooms   map[string]*room
	moves   map[Move]int // index in Record.Moves, by the fields that are no sums
	stored  map[Stored]int
	tallies []PlaceTally // by region
	of      []int        // index in tallies, by pool
	uses    uint64
	one     [1]int // scratch
	jobs    notes[staged]
}

// staged is where the data of a job is.
type staged struct {
	at      int32          // region of pools to which it was moved last, from 1; 0 is none
	ready   capcli.Seconds // when it is there
	staging capcli.Seconds // part of the overhead of the stay in which the job waits for it
	copy    *copied        // that the job uses; nil if none
}

// room is the copies in one region.
type room struct {
	keep   *Keep // nil keeps none
	used   int64 // MiB
	copies map[string]*copied
}

// copied is a copy of a data set.
type copied struct {
	name         string
	mib          int64
	since, ready capcli.Seconds
	last         uint64 // order of its last use
	users        int    // jobs that run with it
	pool, tenant int    // of the job that made it
}

// PlaceTally is what happened in one region.
type PlaceTally struct {
	Place     string
	Jobs      int64 // that ended there
	Used      capcli.GPUTime
	Transfers int64 // of data to it
	In, Out   int64 // MiB moved to it, and results moved back from it
	Time      capcli.Seconds
	Found     int64 // starts that found their data there as a copy
	Dropped   int64 // copies that went to make room
}

// PlacesResult is where jobs ran, what they moved, and what they were kept out of.
type PlacesResult struct {
	Places []PlaceTally // in order of the first pool of each region
	Barred []Barred
}

// newMoving returns the state; that of nothing if no pool has a place.
func newMoving(e *engine) moving {
	m := moving{e: e, places: e.cfg.Places}
	if !slices.ContainsFunc(e.c.pools, func(p Pool) bool { return p.Place != Place{} }) {
		return m
	}
	m = moving{e: e, places: e.cfg.Places, rooms: map[string]*room{}, moves: map[Move]int{}, stored: map[Stored]int{}}
	for i := range e.c.pools {
		region := capcli.RegionOf(e.c.pools[i].Place.String())
		m.regions = append(m.regions, region)
		k := slices.IndexFunc(m.tallies, func(t PlaceTally) bool { return t.Place == region })
		if k < 0 {
			k = len(m.tallies)
			m.tallies = append(m.tallies, PlaceTally{Place: region})
			r := &room{copies: map[string]*copied{}}
			if m.places != nil {
				if at := slices.IndexFunc(m.places.Keep, func(k Keep) bool { return capcli.IsWithin(region, k.Place) }); at >= 0 {
					r.keep = &m.places.Keep[at]
				}
			}
			m.rooms[region] = r
		}
		m.of = append(m.of, k)
	}
	return m
}

// transfer returns what l would have to move to start in pool p now.
func (m *moving) transfer(l *Live, p int) Transfer {
	d := l.Data
	if d == nil || m.of == nil || isLocal(d.Home, m.e.c.pools[p].Place.String()) {
		return Transfer{}
	}
	t := Transfer{From: capcli.RegionOf(d.Home), To: m.regions[p]}
	t.MiB, t.Back = d.MiB()
	own := m.jobs.get(l)
	switch c := m.rooms[t.To].copies[d.Name]; {
	case own.at == int32(m.of[p])+1:
		t.MiB, t.Time = 0, max(0, own.ready-m.e.c.now)
	case d.Name != "" && c != nil:
		t.MiB, t.Time = 0, max(0, c.ready-m.e.c.now)
	default:
		if places := m.places; places != nil {
			if speed := linkBetween(places.MiBps, d.Home, m.e.c.pools[p].Place.String()); speed > 0 {
				t.Time = capcli.Seconds((t.MiB + speed - 1) / speed)
			}
		}
	}
	return t
}

// bring moves the data of l to pool p, in which it starts at l.Since. The job holds its GPUs meanwhile: the
// time counts as overhead of the stay.
func (m *moving) bring(l *Live, p int) {
	t := m.transfer(l, p)
	if t.To == "" {
		return
	}
	begins, tally, r := l.Since, &m.tallies[m.of[p]], m.rooms[t.To]
	k := m.jobs.noteOf(l)
	own := k.at == int32(m.of[p])+1
	c := r.copies[l.Data.Name]
	if l.Data.Name == "" {
		c = nil
	}
	switch {
	case t.MiB > 0:
		k.ready = begins + t.Time
		m.book(m.e, Move{Month: m.e.ledger.monthAt(begins), Pool: p, Tenant: l.tenant.index, From: t.From, To: t.To}, t.MiB, t.Time)
		tally.Transfers++
		tally.In += t.MiB
		if l.Data.Name != "" {
			c = m.keep(m.e, r, &copied{name: l.Data.Name, mib: t.MiB, since: begins, ready: k.ready, pool: p, tenant: l.tenant.index}, t.To)
		}
	case !own && c != nil:
		k.ready = c.ready
		tally.Found++
	}
	if c != nil && c.name == l.Data.Name {
		m.uses++
		c.last = m.uses
		c.users++
		k.copy = c
	}
	k.at = int32(m.of[p]) + 1
	k.staging = max(0, k.ready-begins)
	tally.Time += k.staging
	l.overhead += k.staging
}

// stopped ends the use of a copy by l.
func (m *moving) stopped(l *Live) {
	if k := m.jobs.get(l); k.copy != nil {
		k.copy.users--
		m.jobs.noteOf(l).copy = nil
	}
}

// unstage takes what is left of the transfer from the overhead of l, whose stay was so long. Its next stay
// waits for the data again if it is not there by then.
func (m *moving) unstage(l *Live, stay capcli.Seconds) {
	if staging := m.jobs.get(l).staging; staging > 0 {
		l.overhead -= max(0, staging-stay)
		m.jobs.noteOf(l).staging = 0
	}
}

// waited returns how long l, whose stay was so long, waited for its data in it.
func (m *moving) waited(l *Live, stay capcli.Seconds) capcli.Seconds {
	return max(0, min(stay, m.jobs.get(l).staging))
}

// keep puts a copy into a region and returns it; nil if there is no room.
func (m *moving) keep(e *engine, r *room, c *copied, place string) *copied {
	if r.keep == nil || r.keep.MiB > 0 && c.mib > r.keep.MiB {
		return nil
	}
	for r.keep.MiB > 0 && r.used+c.mib > r.keep.MiB {
		var oldest *copied
		for _, o := range r.copies {
			if o.users == 0 && o.ready <= c.since && (oldest == nil || cmp.Or(cmp.Compare(o.last, oldest.last), cmp.Compare(o.name, oldest.name)) < 0) {
				oldest = o
			}
		}
		if oldest == nil {
			return nil
		}
		m.drop(e, r, oldest, c.since, place)
		m.tallies[m.of[c.pool]].Dropped++
	}
	r.copies[c.name] = c
	r.used += c.mib
	return c
}

// drop removes a copy at a time.
func (m *moving) drop(e *engine, r *room, c *copied, at capcli.Seconds, place string) {
	delete(r.copies, c.name)
	r.used -= c.mib
	e.ledger.eachMonth(c.since, at, func(month int, dt int64) {
		key := Stored{Month: month, Pool: c.pool, Tenant: c.tenant, Place: place}
		i, have := m.stored[key]
		if !have {
			i = len(e.ledger.rec.Stored)
			m.stored[key] = i
			e.ledger.rec.Stored = append(e.ledger.rec.Stored, key)
		}
		e.ledger.rec.Stored[i].MiBSeconds += c.mib * dt
	})
}

// book counts a transfer.
func (m *moving) book(e *engine, key Move, mib int64, time capcli.Seconds) {
	i, have := m.moves[key]
	if !have {
		i = len(e.ledger.rec.Moves)
		m.moves[key] = i
		e.ledger.rec.Moves = append(e.ledger.rec.Moves, key)
	}
	x := &e.ledger.rec.Moves[i]
	x.MiB += mib
	x.Count++
	x.Time += time
}

// ended moves the result of l, if it has finished, to its home.
func (m *moving) ended(l *Live) {
	if l.state != finished {
		return
	}
	p := int(l.slices[0].Pool)
	tally := &m.tallies[m.of[p]]
	tally.Jobs++
	for _, h := range l.holds {
		m.tallies[m.of[h.Pool]].Used += h.Used
	}
	if l.Data == nil {
		return
	}
	t := m.transfer(l, p)
	if t.To == "" || t.Back == 0 {
		return
	}
	tally.Out += t.Back
	m.book(m.e, Move{Month: m.e.ledger.monthAt(max(0, m.e.c.now-1)), Pool: p, Tenant: l.tenant.index, From: t.To, To: t.From}, t.Back, 0)
}

// closeMoving ends the copies at the end of the run and returns the figures; nil if no pool has a place.
func (m *moving) closeMoving(end capcli.Seconds) *PlacesResult {
	if m.of == nil {
		return nil
	}
	for _, t := range m.tallies {
		r := m.rooms[t.Place]
		names := make([]string, 0, len(r.copies))
		for name := range r.copies {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			m.drop(m.e, r, r.copies[name], end, t.Place)
		}
	}
	return &PlacesResult{Places: m.tallies, Barred: m.e.classes.barred()}
}
