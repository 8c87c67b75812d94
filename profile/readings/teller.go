package readings

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"capcli/profile"
)

// Limits on what is kept.
const (
	mostFigures = 4096 // figures of one source, by teller and name
	forgetAfter = 600  // seconds after which a counter's last value is too old for a rate
)

// teller is who says something: what its labels or fields name.
type teller struct {
	job, pod, namespace, container, user string
	pid, gpu, uuid, local                string
}

// labels are the labels and fields that name a teller, as normalise writes them.
var labels = map[string]func(t *teller, v string){
	"job": func(t *teller, v string) { t.job = v }, "job_id": func(t *teller, v string) { t.job = v }, "jobid": func(t *teller, v string) { t.job = v },
	"slurm_job_id": func(t *teller, v string) { t.job = v },
	"pod":          func(t *teller, v string) { t.pod = v }, "pod_name": func(t *teller, v string) { t.pod = v }, "exported_pod": func(t *teller, v string) { t.pod = v },
	"namespace": func(t *teller, v string) { t.namespace = v }, "exported_namespace": func(t *teller, v string) { t.namespace = v },
	"container_id": func(t *teller, v string) { t.container = v },
	"user":         func(t *teller, v string) { t.user = v },
	"pid":          func(t *teller, v string) { t.pid = v },
	"gpu":          func(t *teller, v string) { t.gpu = v }, "gpu_index": func(t *teller, v string) { t.gpu = v },
	"gpu_uuid": func(t *teller, v string) { t.uuid = v }, "uuid": func(t *teller, v string) { t.uuid = v },
	"local_rank": func(t *teller, v string) { t.local = v },
}

// labelNames are the names of labels, for a page of metrics.
var labelNames = slices.Sorted(maps.Keys(labels))

// figure is one figure of one teller.
type figure struct {
	teller teller
	name   string
	rank   int
}

// state is what is known of a figure.
type state struct {
	last    float64 // of a counter
	at      profile.Instant
	counted bool
	sum     float64 // of the values since the last take
	n       int
	fresh   profile.Instant // when the figure last had a value
}

// book keeps the figures of one source. It is not safe for use by several goroutines.
type book struct {
	own     map[string]string
	figures map[figure]*state
	best    map[figure]int // the lowest rank with which a figure of that teller and name was told; its rank field is 0
	buf     []byte
	order   []figure // in order of their first coming
	left    int      // figures beyond mostFigures
}

func newBook(own map[string]string) *book {
	return &book{own: own, figures: map[figure]*state{}, best: map[figure]int{}}
}

// find returns the rule for a program's name.
func (b *book) find(name []byte) (rule, bool) {
	b.buf = normalise(b.buf, name)
	if as, ok := b.own[string(b.buf)]; ok {
		return rule{name: as, scale: 1, share: as == profile.ToldMFU}, true
	}
	r, ok := rules[string(b.buf)]
	return r, ok
}

// note takes the value of a figure that a teller told at a time.
func (b *book) note(t *teller, r *rule, v float64, at profile.Instant) {
	key := figure{*t, r.name, r.rank}
	s := b.figures[key]
	if s == nil {
		if len(b.figures) >= mostFigures {
			b.left++
			return
		}
		s = &state{}
		b.figures[key] = s
		b.order = append(b.order, key)
		bare := figure{*t, r.name, 0}
		if best, ok := b.best[bare]; !ok || r.rank < best {
			b.best[bare] = r.rank
		}
	}
	if !r.counter {
		if out, ok := r.value(v); ok {
			s.sum, s.n, s.fresh = s.sum+out, s.n+1, at
		}
		return
	}
	seconds := at.Sub(s.at).Seconds()
	growth := v - s.last
	if s.counted && growth == 0 && seconds < forgetAfter {
		return // the rate is that over the time until it grows
	}
	had := s.counted
	if s.counted && seconds <= 0 { // several lines in one look: the last counts
		s.last = v
		return
	}
	s.last, s.at, s.counted = v, at, v >= 0
	if !had || growth < 0 || seconds >= forgetAfter {
		return
	}
	if out, ok := r.rate(growth, seconds); ok {
		s.sum, s.n, s.fresh = s.sum+out, s.n+1, at
	}
}

// take calls each with the figures that were told since the last take, and forgets tellers that have fallen silent.
func (b *book) take(now profile.Instant, each func(t *teller, name string, v float64)) {
	keep := b.order[:0]
	for _, key := range b.order {
		s := b.figures[key]
		if s.n > 0 && b.best[figure{key.teller, key.name, 0}] == key.rank {
			each(&key.teller, key.name, s.sum/float64(s.n))
		}
		s.sum, s.n = 0, 0
		if now.Sub(max(s.fresh, s.at)).Seconds() > 2*forgetAfter {
			delete(b.figures, key)
			delete(b.best, figure{key.teller, key.name, 0})
			continue
		}
		keep = append(keep, key)
	}
	b.order = keep
}

// line notes the figures of a line.
func (b *book) line(text []byte, at profile.Instant) {
	var t teller
	Line(text, func(name, value []byte) {
		b.buf = normalise(b.buf, name)
		if set := labels[string(b.buf)]; set != nil && len(value) <= 256 {
			set(&t, string(value))
		}
	})
	Line(text, func(name, value []byte) {
		r, ok := b.find(name)
		if !ok {
			return
		}
		if v, err := parseFigure(value); err == nil {
			b.note(&t, &r, v, at)
		}
	})
}

// parseFigure parses a number; "," groups its digits.
func parseFigure(text []byte) (float64, error) {
	s := string(text)
	if strings.IndexByte(s, ',') >= 0 {
		s = strings.ReplaceAll(s, ",", "")
	}
	return strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
}
