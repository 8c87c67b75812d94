package readings

import (
	"context"
	"io"
	"math"
	"strconv"
	"sync"

	"capcli/profile"
)

// mostPage is the most bytes of a page of metrics.
const mostPage = 16 << 20

// told is a figure of a page.
type told struct {
	teller teller
	rule   rule
	value  float64
	n      int
}

// page asks an address for its metrics, beside the sampling.
type page struct {
	name  string
	fetch func(ctx context.Context) (io.ReadCloser, error)

	mu   sync.Mutex
	busy bool
	done bool // an answer is there
	err  error
	out  []told
	next profile.Instant // when it is asked again
}

// look takes an answer that has come since the last look, and asks again where it is time.
func (p *page) look(ctx context.Context, at profile.Instant, b *book) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var err error
	if p.done {
		err, p.done = p.err, false
		for i := range p.out {
			x := &p.out[i]
			v := x.value
			if !x.rule.counter {
				v /= float64(x.n)
			}
			b.note(&x.teller, &x.rule, v, at)
		}
	}
	if !p.busy && at >= p.next {
		p.busy, p.next = true, at.Add(askEvery)
		go p.ask(context.WithoutCancel(ctx), &book{own: b.own})
	}
	return err
}

// ask reads the page once.
func (p *page) ask(ctx context.Context, names *book) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	out, err := readPage(ctx, p.name, p.fetch, names)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out, p.err, p.busy, p.done = out, err, false, true
}

// readPage reads the figures that have a rule. Counters of one teller that differ in other labels add up.
func readPage(ctx context.Context, name string, fetch func(ctx context.Context) (io.ReadCloser, error), names *book) ([]told, error) {
	in, err := fetch(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // it was only read
	var out []told
	at := map[figure]int{}
	err = profile.ReadExposition(name, io.LimitReader(in, mostPage), func(metric, value string, label func(...string) string) error {
		r, ok := names.find([]byte(metric))
		if !ok {
			return nil
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(v) {
			return nil
		}
		var t teller
		for _, n := range labelNames {
			if text := label(n); text != "" && len(text) <= 256 {
				labels[n](&t, text)
			}
		}
		if exported := label("exported_pod"); exported != "" {
			t.pod, t.namespace = exported, label("exported_namespace")
		}
		key := figure{t, r.name, r.rank}
		i, found := at[key]
		if !found {
			if len(out) >= mostFigures {
				return nil
			}
			i = len(out)
			at[key] = i
			out = append(out, told{teller: t, rule: r})
		}
		out[i].value += v
		out[i].n++
		return nil
	})
	return out, err
}
