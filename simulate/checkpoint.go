package simulate

import (
	"cmp"
	"math"
	"slices"

	"capcli"
	"capcli/simulate/reliability"
)

// Shards say how large checkpoints are and how fast they are written. Each GPU of a job writes its
// own part, all at once, as sharded checkpoints do. A checkpoint takes
//
//	max(GB / GPURate, GB x GPUs / StoreRate)
//
// rounded up to seconds.
type Shards struct {
	GB         float64 // state of each GPU; 0 is not stated
	GPURate    float64 // GB a second that each GPU writes; 0 is without limit
	StoreRate  float64 // GB a second that the storage takes from one job; 0 is without limit
	Background float64 // share of it that is written while the job works on; the rest pauses the job
	Keep       int     // checkpoints kept in storage for each job; 0 is 1
}

// seconds returns the time that a job of so many GPUs takes to write a checkpoint.
func (s *Shards) seconds(gpus int) float64 {
	t := 0.0
	if s.GPURate > 0 {
		t = s.GB / s.GPURate
	}
	if s.StoreRate > 0 {
		t = max(t, s.GB*float64(gpus)/s.StoreRate)
	}
	return t
}

// Saving is how jobs of one kind saved their work in one pool, where the class leaves something to
// be worked out.
type Saving struct {
	Class    string         `json:"class"`
	Pool     string         `json:"pool"`
	GPUs     int            `json:"gpus"`
	Nodes    int            `json:"nodes"`
	MTBF     capcli.Seconds `json:"mtbf_s"`                    // of all its nodes together; 0 is not known
	Interval capcli.Seconds `json:"checkpoint_every_s"`        // 0 is no regular checkpoints
	Noticed  bool           `json:"saved_on_notice,omitempty"` // a last checkpoint is taken on the notice of a loss
	Cost     capcli.Seconds `json:"checkpoint_cost_s"`
	Write    capcli.Seconds `json:"checkpoint_write_s"`
	Stays    int64          `json:"stays"` // stays of jobs that saved so
}

// savingKey is what a class leaves to be worked out for.
type savingKey struct {
	class             *RestartClass
	pool, gpus, nodes int
}

// saving is a class with everything worked out, and how often it was used.
type saving struct {
	RestartClass
	key     savingKey
	mtbf    capcli.Seconds
	noticed bool // a notice of a loss is long enough for a last checkpoint, and the interval counts on it
	stays   int64
}

// isOpen reports whether the class must be worked out for each kind of gang.
func (c *RestartClass) isOpen() bool { return c.Auto || c.Shards.GB > 0 }

// savings are how jobs save their work, where their class leaves something to be worked out.
type savings struct {
	e  *engine
	of map[savingKey]*saving

	// 1 s after the first checkpoint of a job was safe; 0 before. Only with Shards.
	stored notes[capcli.Seconds]
}

// savingOf returns how l saves its work on the slices, if its class is open.
func (sv *savings) savingOf(l *Live, s []Slice) *saving {
	key := savingKey{sv.e.cfg.Restarts.ClassOf(&l.Job), int(s[0].Pool), l.GPUs, len(s)}
	w := sv.of[key]
	if w == nil {
		w = sv.workOut(key)
		if sv.of == nil {
			sv.of = map[savingKey]*saving{}
		}
		sv.of[key] = w
	}
	return w
}

// onNoticeOnly is the interval of jobs that save their work when a loss is announced and at no other time. It is
// longer than any job.
const onNoticeOnly = capcli.Seconds(1) << 40

// workOut fills in the cost of a checkpoint and the interval between two. The gang fails as often as
// all its nodes together. Losses that are announced early enough for a last checkpoint destroy no work, so
// they do not count. The interval is the exact one for the pause (see reliability.BestInterval),
// but no shorter than the write in the background, because one checkpoint is written at a time. In
// a pool whose nodes never fail there are no checkpoints; where each loss is announced early enough there are
// none but those on notice.
func (sv *savings) workOut(key savingKey) *saving {
	w := &saving{RestartClass: *key.class, key: key}
	if sh := &key.class.Shards; sh.GB > 0 {
		all := sh.seconds(key.gpus)
		w.Cost = capcli.Seconds(math.Ceil(all * (1 - sh.Background)))
		w.Write = max(0, capcli.Seconds(math.Ceil(all))-w.Cost)
	}
	pool := &sv.e.c.pools[key.pool]
	if w.mtbf = pool.gangMTBF(key.nodes, false); !key.class.Auto {
		w.Interval = max(w.Interval, w.Write)
		return w
	}
	w.Interval = 0
	w.noticed = w.mtbf > 0 && pool.Notice > 0 && pool.Notice >= w.Cost+w.Write
	switch destroying := pool.gangMTBF(key.nodes, w.noticed); {
	case destroying > 0:
		best := reliability.BestInterval(max(1e-3, float64(w.Cost)), float64(destroying))
		w.Interval = max(1, w.Write, capcli.Seconds(math.Round(best)))
	case w.noticed:
		w.Interval = onNoticeOnly
	}
	return w
}

// gangMTBF returns the mean time until one of so many nodes, or a rack that they fill, is lost; 0 if it
// is not known, or if racks alone count and there are none.
func (p *Pool) gangMTBF(nodes int, racksAlone bool) capcli.Seconds {
	if p.MTBF <= 0 {
		return 0
	}
	rate := 0.0
	if !racksAlone {
		rate = float64(max(1, nodes)) / float64(p.MTBF)
	}
	if p.RackMTBF > 0 && p.RackNodes > 0 {
		rate += float64((nodes+p.RackNodes-1)/p.RackNodes) / float64(p.RackMTBF)
	}
	if rate == 0 {
		return 0
	}
	return max(1, capcli.Seconds(math.Round(1/rate)))
}

// savingRows returns how jobs saved their work, in order of class, pool, GPUs and nodes.
func (sv *savings) savingRows() []Saving {
	if len(sv.of) == 0 {
		return nil
	}
	out := make([]Saving, 0, len(sv.of))
	for _, w := range sv.of {
		if w.stays == 0 {
			continue
		}
		row := Saving{
			Class: w.Class, Pool: sv.e.c.pools[w.key.pool].Name, GPUs: w.key.gpus, Nodes: w.key.nodes, MTBF: w.mtbf,
			Interval: w.Interval, Noticed: w.noticed, Cost: w.Cost, Write: w.Write, Stays: w.stays,
		}
		if w.Interval == onNoticeOnly {
			row.Interval = 0
		}
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b Saving) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Pool, b.Pool), cmp.Compare(a.GPUs, b.GPUs), cmp.Compare(a.Nodes, b.Nodes),
			cmp.Compare(a.Interval, b.Interval), cmp.Compare(a.Stays, b.Stays))
	})
	return out
}

// store counts the storage of l's checkpoints once the job has ended: Keep checkpoints from the
// first that was safe until now.
func (sv *savings) store(l *Live) {
	if at := sv.stored.get(l); at > 0 {
		gb := l.rc.Shards.GB * float64(l.GPUs*max(1, l.rc.Shards.Keep))
		sv.e.meter.storedMB += int64(math.Round(gb * 1000 * (sv.e.c.now - at + 1).Hours()))
	}
}

// savedOnNotice notes that the last checkpoint of l is the first that was safe.
func (sv *savings) savedOnNotice(l *Live) { sv.note(l, sv.e.c.now+1) }

// firstSaved notes when the first checkpoint of l was safe, given what the stay that ends now saved.
// Times are kept plus 1, so that 0 is none.
func (sv *savings) firstSaved(l *Live, kept capcli.Seconds) {
	if kept > 0 {
		sv.note(l, l.Since+l.overhead+l.rc.Interval+l.rc.Cost+l.rc.Write+1)
	}
}

func (sv *savings) note(l *Live, at capcli.Seconds) {
	if l.rc.Shards.GB > 0 && sv.stored.get(l) == 0 {
		*sv.stored.noteOf(l) = at
	}
}
