package queueing

import (
	"fmt"
	"math"

	"capcli"
	"capcli/simulate/serving"
)

// Replica is what the approximation knows of a replica.
type Replica struct {
	Time         serving.Time
	Sequences    int64 // that run at once at most: the limit of the server, or what the KV cache holds
	Chunk        int64 // tokens of an iteration at most; 0 is 2048
	PrefillFirst bool  // whether a prompt has an iteration of its own, in which nobody decodes

	// Gaps is the squared coefficient of variation of the times between arrivals at a replica, as far as the
	// time to the first token depends on it; 0 is 1, Poisson. Round robin over k replicas makes it 1/k.
	Gaps float64
}

func (r *Replica) gaps() float64 {
	if r.Gaps == 0 {
		return 1
	}
	return r.Gaps
}

// Lengths are the mean lengths of requests in tokens.
type Lengths struct {
	In     float64 // of the prompt
	Out    float64 // of the answer
	Cached float64 // of the prompt, which a prefix cache supplies
	// Variation is the squared coefficient of variation of answers: 0 where all have one length, 1 for an
	// exponential law. Those present are the longer ones, so they attend to more tokens.
	Variation float64
}

// Limits of what a station describes.
const (
	chunkDefault = 2048
	mostPresent  = 20_000        // requests in a replica up to which probabilities are summed
	fallen       = -60.0         // logarithm of the probability, against that of a full replica, at which the sum stops
	mostTokens   = 1_000_000_000 // of a request
)

// Station is a replica that answers requests of one law of lengths: a queue with processor sharing at a
// rate that depends on the number n present. Such a queue does not depend on the law of service (Cohen,
// "The multiple phase service network with generalized processor sharing", Acta Informatica 1979). With i
// tokens in and o out:
//
//	t(T, S, KV, PA)  the time of an iteration (serving.Time), not rounded; KV = n·(i + o/2·(1 + v))
//	d(n)    = t(n, n, KV, 0), an iteration in which all decode
//	add(n)  = the sum, over the pieces of one prompt, of what each adds to an iteration of the n - 1 others
//	tbar(n) = d(n) + n/o·add(n)
//	mu(n)   = m / (o·tbar(m)), m = min(n, N)
//
// v is the squared coefficient of variation of answers: one that is seen at work has made o/2·(1 + v) tokens
// in the mean, as a law of renewals says of the age of what is in use. Where load is high and answers vary,
// that is what decides whether a replica keeps up.
//
// The cost of a prompt is taken apart from that of decoding: prompts come in lumps, and the time of an
// iteration is a maximum, so an iteration with the mean number of prompt tokens is too short.
type Station struct {
	replica Replica
	lengths Lengths
	logRate []float64 // logarithm of mu(n) a second, n from 1 to min(N, mostPresent)
	prompt  []float64 // part of tbar(n) that is one's own prompt: add(n) / (o·tbar(n))
	most    float64   // mu(N)
}

// NewStation returns the station of a replica and the lengths of its requests.
func NewStation(r Replica, l Lengths) (*Station, error) {
	s, err := newOutline(r, l)
	if err != nil {
		return nil, err
	}
	s.tabulate()
	return s, nil
}

// tabulate fills in what follows from the number present.
func (s *Station) tabulate() {
	n := min(s.replica.Sequences, mostPresent)
	s.logRate, s.prompt = make([]float64, n), make([]float64, n)
	for i := range n {
		rate, share := s.rate(i + 1)
		s.logRate[i], s.prompt[i] = math.Log(rate), share
	}
}

// newOutline returns a station that knows its saturation and its iterations, and no probabilities.
func newOutline(r Replica, l Lengths) (*Station, error) {
	if r.Chunk == 0 {
		r.Chunk = chunkDefault
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	if err := l.check(); err != nil {
		return nil, err
	}
	s := &Station{replica: r, lengths: l}
	s.most, _ = s.rate(r.Sequences)
	return s, nil
}

// Saturation returns the requests a second that a full replica serves.
func (s *Station) Saturation() float64 { return s.most }

// fullOccupancy returns who is in a replica with all places taken and nobody waiting.
func (s *Station) fullOccupancy() occupancy {
	n := float64(s.replica.Sequences)
	_, share := s.rate(s.replica.Sequences)
	return occupancy{running: n, full: 1, prompt: n * share}
}

func (r *Replica) check() error {
	switch {
	case r.Sequences < 1:
		return &capcli.RequestError{Field: "max_seqs", Text: fmt.Sprintf("wants 1 sequence or more at once, found %d", r.Sequences)}
	case r.Chunk < 1:
		return &capcli.RequestError{Field: "max_tokens", Text: fmt.Sprintf("wants 1 token or more an iteration, found %d", r.Chunk)}
	case !(r.Gaps >= 0 && r.Gaps <= 1):
		return &capcli.RequestError{Field: "gaps", Text: fmt.Sprintf("wants a squared coefficient of variation between 0 and 1, found %v", r.Gaps)}
	case len(r.Time.Lin) == 0:
		return &capcli.RequestError{Field: "time", Text: "wants at least one pair [flat, slope] in lin, found none"}
	}
	t := &r.Time
	for _, l := range t.Lin {
		if l[1] < 0 {
			return &capcli.RequestError{Field: "time", Text: fmt.Sprintf("wants no slope below 0 in lin, found %d", l[1])}
		}
	}
	if t.C0 < 0 || t.Seq < 0 || t.KV < 0 || t.PA < 0 {
		return &capcli.RequestError{Field: "time", Text: "wants no value below 0"}
	}
	if float64(t.C0)/1e6+roof(t, 1)+float64(t.Seq+t.KV)/1e6 <= 0 {
		return &capcli.RequestError{Field: "time", Text: "wants an iteration that takes time; the one of a single token takes none"}
	}
	return nil
}

func (l *Lengths) check() error {
	for _, f := range []struct {
		name    string
		x, from float64
		to      float64
	}{{"tokens_in", l.In, 1, mostTokens}, {"tokens_out", l.Out, 1, mostTokens}, {"cached", l.Cached, 0, l.In}, {"variation", l.Variation, 0, 1e6}} {
		if !(f.x >= f.from && f.x <= f.to) {
			return &capcli.RequestError{Field: f.name, Text: fmt.Sprintf("wants a number between %v and %v, found %v", f.from, f.to, f.x)}
		}
	}
	return nil
}

// prompt returns the tokens of a prompt that a cache supplies and those that are worked on, which are at
// least one.
func (l *Lengths) prompt() (first, work float64) {
	first = min(l.Cached, l.In-1)
	return first, l.In - first
}

// roof returns the roofline of tokens in microseconds.
func roof(t *serving.Time, tokens float64) float64 {
	if len(t.Batch) > 0 {
		n := math.Floor(tokens)
		lo, hi := float64(t.Picoseconds(int64(n), 0, 0, 0)), float64(t.Picoseconds(int64(n)+1, 0, 0, 0))
		return (lo + (hi-lo)*(tokens-n)) / 1e6
	}
	most := 0.0
	for i, l := range t.Lin {
		if ps := float64(l[0]) + float64(l[1])*tokens; i == 0 || ps > most {
			most = ps
		}
	}
	return most / 1e6
}

// iteration returns tbar(n) and add(n) in microseconds; n may be a fraction, at least 1. The pieces of a
// prompt but the last are alike, and the pairs of tokens attended of all pieces have a sum, so it takes the
// same time however long the prompt is.
func (s *Station) iteration(n float64) (tbar, add float64) {
	t, i, o := &s.replica.Time, s.lengths.In, s.lengths.Out
	first, work := s.lengths.prompt()
	pairs := work * (2*first + work + 1) / 2 * float64(t.PA) / 1e6
	decode := float64(t.C0)/1e6 + roof(t, n) + float64(t.Seq)/1e6*n + float64(t.KV)/1e6*n*(i+o/2*(1+s.lengths.Variation))
	if s.replica.PrefillFirst {
		add = float64(t.C0)/1e6 + roof(t, work) + float64(t.Seq)/1e6 + pairs
		return decode + n/o*add, add
	}
	piece := max(1, float64(s.replica.Chunk)-(n-1)) // beside n - 1 others that decode
	pieces := math.Floor(work / piece)
	add = pairs + pieces*(roof(t, n-1+piece)-roof(t, n))
	if rest := work - pieces*piece; rest > 0 {
		add += roof(t, n-1+rest) - roof(t, n)
	}
	return decode + n/o*add, add
}

// promptSteps returns the iterations that a prompt takes while n are present.
func (s *Station) promptSteps(n float64) float64 {
	if s.replica.PrefillFirst {
		return 1
	}
	_, work := s.lengths.prompt()
	return max(1, math.Ceil(work/max(1, float64(s.replica.Chunk)-(n-1))))
}
