package resample

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"capcli"
)

// The blocks that a layer draws.
const (
	leastBlock = 28  // days of the longest block, where half of the past is shorter
	tries      = 16  // blocks drawn for the first layer, until one is near to the future; else the nearest is taken
	nearShare  = 0.1 // of the work wanted: how far the days of a near block are from it, in the mean
)

// layer is a course of jobs over the future: blocks of the past, one after another.
type layer struct {
	number      int
	kind        layerKind
	from, until int         // future days of its present block
	source      int         // past day that stands for future day from
	offset      capcli.Time // from the start of that day to the start of its block
	axes        []share
}

// share is the work of a layer on an axis, by cell of its present block.
type share struct {
	first int       // cell at which the block begins
	full  []float64 // of all jobs of the block
	rest  []float64 // of the jobs of the block that are not decided yet
	ratio []float64 // of rest that is still wanted
	plain []float64 // of full that is wanted
}

func (s *share) has(cell int) bool { return cell >= s.first && cell < s.first+len(s.rest) }

// layerKind says which jobs of a block are candidates.
type layerKind int

const (
	wholeBlock layerKind = iota // those submitted in it and those in flight at its start
	submitted                   // those submitted in it; the next block is whole
	inFlight                    // those in flight at its start
	atLogEnd                    // those in flight at the end of the log
)

// candidate is a job that may be drawn.
type candidate struct {
	job     int // index in Resampler.jobs
	layer   *layer
	at, end capcli.Time
	past    capcli.Time    // the instant of the past that at stands for
	piece   bool           // in flight at the start of its block, with what is left of its run
	work    capcli.GPUTime // within the future, once ordered
}

// flying calls yield with each job that runs at an instant of the past, and the time since it
// started. Jobs run from their submission, or from the recorded start.
func (r *Resampler) flying(at capcli.Time, recorded bool, yield func(job int, since capcli.Seconds)) {
	first := sort.Search(len(r.jobs), func(i int) bool { return r.jobs[i].Submit >= at-capcli.Time(r.reach) })
	for i := first; i < len(r.jobs) && r.jobs[i].Submit < at; i++ {
		j := &r.jobs[i]
		start := j.Submit
		if recorded && j.Start > start {
			start = j.Start
		}
		if start < at && start+capcli.Time(j.Run) > at {
			yield(i, capcli.Seconds(at-start))
		}
	}
}

// candidates calls yield with the jobs of a layer that begin on a future day.
func (d *drawing) candidates(l *layer, day int, yield func(c candidate)) {
	begin := max(d.edges[day], d.from)
	if day == l.from {
		begin += l.offset
	}
	if l.kind == atLogEnd {
		d.r.flying(d.r.end, true, func(job int, since capcli.Seconds) {
			yield(candidate{job, l, begin, begin + capcli.Time(d.r.jobs[job].Run-since), d.r.end, true, 0})
		})
		return
	}
	past := &d.r.days[l.source+day-l.from]
	last := capcli.Time(math.MaxInt64) // the end of the block, which cuts what runs
	if l.until < d.days {
		last = d.edges[l.until]
	}
	if day == l.from && l.kind != submitted {
		at := past.start + min(begin-d.edges[day], past.length-1)
		d.r.flying(at, false, func(job int, since capcli.Seconds) {
			yield(candidate{job, l, begin, min(last, begin+capcli.Time(d.r.jobs[job].Run-since)), at, true, 0})
		})
	}
	if l.kind == inFlight {
		return
	}
	for i := past.from; i < past.to; i++ {
		j := &d.r.jobs[i]
		if at := d.r.clock(j.Submit, past, d.edges[day], d.edges[day+1]); at >= begin && at < d.to {
			yield(candidate{i, l, at, min(last, at+capcli.Time(j.Run)), j.Submit, false, 0})
		}
	}
}

// lay draws the next block of a layer, which begins on a future day, some time after its start. A short one
// ends with the day.
func (d *drawing) lay(l *layer, day int, after capcli.Time, short bool) {
	if l.kind == submitted && l.until > 0 {
		l.kind = wholeBlock
	}
	count := 1
	if l.number == 0 {
		count = tries
	}
	best, wanted := math.Inf(1), d.axes[0].asked[day]
	for range count {
		source, length := d.block(day)
		off := d.mismatch(l, day, source, length)
		if off < best {
			best, l.source, l.until = off, source, day+length
		}
		if off <= nearShare*wanted {
			break
		}
	}
	if short {
		l.until = day + 1
	}
	if l.from, l.offset = day, after; l.number == 0 && d.shaped {
		for i := range l.until - day {
			d.shape(day+i, l.source+i)
		}
	}
	d.count(l)
}

// mismatch returns the mean difference between the work that the days of a block had and what is
// wanted of it.
func (d *drawing) mismatch(l *layer, day, source, length int) (off float64) {
	before := make([]float64, length) // of jobs in flight at its start
	if l.kind == submitted {
		past := d.r.days[source : source+length]
		d.r.flying(past[0].start, false, func(job int, _ capcli.Seconds) {
			j := &d.r.jobs[job]
			end := j.Submit + capcli.Time(j.Run)
			for i := 0; i < length && past[i].start < end; i++ {
				before[i] += float64(j.Milli() * int64(min(past[i].length, end-past[i].start)))
			}
		})
	}
	for i := range length {
		off += math.Abs(d.axes[0].room(day+i)-float64(d.r.days[source+i].held)+before[i]) / float64(length)
	}
	return off
}

// block draws a block of past days for the future days from day on. It ends with the past, or
// where a past day cannot stand for the future day.
func (d *drawing) block(day int) (source, length int) {
	r := d.r
	longest := max(leastBlock, len(r.days)/2)
	fit := r.byDay[d.weekday(day)]
	least := d.rng.IntN(len(r.days)+longest-7) - longest + 7 // blocks reach over the start of the past, so that all days are as likely
	at, _ := slices.BinarySearch(fit, max(0, least))
	if at == len(fit) || least < 0 && len(fit) == 1 {
		at = d.rng.IntN(len(fit))
	}
	source = fit[at]
	for length = 1; length < longest && day+length < d.days && source+length < len(r.days); length++ {
		if !slices.Contains(r.byDay[d.weekday(day+length)], source+length) {
			break
		}
	}
	return source, length
}

// count sums the work of all candidates of the present block of l.
func (d *drawing) count(l *layer) {
	until := l.until
	if l.kind == atLogEnd {
		until = d.days
	}
	d.window(l, until)
	for day := l.from; day < l.until; day++ {
		d.candidates(l, day, func(c candidate) { d.settle(&c, 1) })
	}
}

// settle adds the work of a candidate, times sign, to the rest of its layer.
func (d *drawing) settle(c *candidate, sign float64) {
	milli := float64(d.r.jobs[c.job].Milli())
	for a := range d.axes {
		x, s := &d.axes[a], &c.layer.axes[a]
		first, works := x.spread(c.at, min(c.end, d.to), milli)
		for i, w := range works {
			if s.rest[first+i-s.first] += sign * w; sign > 0 {
				s.full[first+i-s.first] += w
			}
		}
	}
}

// open makes the layers ready for a day: it lays blocks where one has ended, drops layers that
// those before them make needless, and adds layers until the candidates' work reaches what is
// wanted.
func (d *drawing) open(day int) error {
	kept := d.layers[:0]
	for _, l := range d.layers {
		if l.until <= day {
			if l.kind == inFlight || l.kind == atLogEnd || l.number > 0 && d.missing(day, kept) <= 0 {
				continue
			}
			d.lay(l, day, 0, false)
		}
		kept = append(kept, l)
	}
	clear(d.layers[len(kept):])
	d.layers = kept
	for more := 0; ; more++ {
		lack := d.missing(day, d.layers)
		if lack <= 0 && (d.lacking(day) <= lackShare*d.axes[0].asked[day] || more >= lackLayers) {
			return nil
		}
		if more > mostLayers {
			return errEmptyDays
		}
		d.add(day, 0, false)
		if lack > 0 && len(d.layers) > d.most {
			return d.tooMany()
		}
	}
}

// add adds a layer that begins on a day, some time after its start; a short one ends with the day.
func (d *drawing) add(day int, after capcli.Time, short bool) *layer {
	d.made++
	l := d.newLayer(wholeBlock, d.made)
	d.layers = append(d.layers, l)
	d.lay(l, day, after, short)
	d.filled.Repeated += l.until - l.from
	return l
}

func (d *drawing) newLayer(kind layerKind, number int) *layer {
	return &layer{number: number, kind: kind, axes: make([]share, len(d.axes))}
}

// window makes room for the work of a layer up to a day.
func (d *drawing) window(l *layer, until int) {
	for a := range d.axes {
		x := &d.axes[a]
		first, end := x.index(max(d.edges[l.from], d.from)), len(x.asked)
		if until < d.days {
			end = x.index(d.edges[until]-1) + 1
		}
		n := end - first
		all := make([]float64, 4*n)
		l.axes[a] = share{first, all[:n], all[n : 2*n], all[2*n : 3*n], all[3*n:]}
	}
}

// missing returns the work of a day that is wanted beyond all that the candidates of layers have.
func (d *drawing) missing(day int, layers []*layer) float64 {
	room := d.axes[0].room(day)
	for _, l := range layers {
		if s := &l.axes[0]; s.has(day) {
			room -= s.rest[day-s.first]
		}
	}
	return room
}

// lacking returns the work that the hours of a day want beyond all that the candidates have.
func (d *drawing) lacking(day int) (sum float64) {
	for a := 1; a < len(d.axes); a++ {
		x := &d.axes[a]
		for i := x.index(max(d.edges[day], d.from)); i < len(x.asked) && x.edges[i] < d.edges[day+1]; i++ {
			room := x.room(i)
			for _, l := range d.layers {
				if s := &l.axes[a]; s.has(i) {
					room -= s.rest[i-s.first]
				}
			}
			sum += max(0, room)
		}
	}
	return sum
}

// ratios divides what each cell from a day on wants among the layers, in their order: the share
// of the candidates of each that is wanted. It does so for the blocks of some of them.
func (d *drawing) ratios(day int, some []*layer) {
	until := day + 1
	for _, l := range some {
		if until = max(until, l.until); l.kind == atLogEnd {
			until = d.days
		}
	}
	for a := range d.axes {
		x := &d.axes[a]
		end := d.to
		if until < d.days {
			end = d.edges[until]
		}
		for i := x.index(max(d.edges[day], d.from)); i < len(x.asked) && x.edges[i] < end; i++ {
			room, all := max(0, x.room(i)), x.asked[i]
			for _, l := range d.layers {
				s := &l.axes[a]
				if !s.has(i) {
					continue
				}
				k := i - s.first
				s.ratio[k], s.plain[k] = portion(room, s.rest[k]), portion(all, s.full[k])
				room, all = max(0, room-s.rest[k]), max(0, all-s.full[k])
			}
		}
	}
}

// portion returns the share of work that fits room.
func portion(room, work float64) float64 {
	if work <= 0.5 {
		return 0
	}
	return min(1, room/work)
}

// order sorts candidates: the most work first, as jobs that span days have the least choice.
func (d *drawing) order(list []candidate) {
	for i := range list {
		list[i].work = d.workInside(&list[i])
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.work, a.work), cmp.Compare(a.at, b.at), a.job-b.job)
	})
}

// workInside returns the GPU time of a candidate within the future.
func (d *drawing) workInside(c *candidate) capcli.GPUTime {
	return capcli.GPUTime(d.r.jobs[c.job].Milli() * int64(min(c.end, d.to)-c.at))
}
