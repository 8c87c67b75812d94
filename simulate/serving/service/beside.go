package service

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/serving"
	"capcli/simulate/serving/queueing"
	"capcli/simulate/serving/scale"
	"capcli/simulate/serving/traffic"
)

// How closely a service is looked at after a run.
const (
	LevelAuto     = "auto"     // requests, if there are at most autoRequests
	LevelRequests = "requests" // each request
	LevelMeans    = "means"    // means of each step, by the approximation
	LevelSteps    = "steps"    // only how many are served in each step
)

// autoRequests is the most requests that are played one by one without being asked for, and mostRequests
// the most at all: a request takes a tenth of a kilobyte.
const (
	autoRequests = 1_000_000
	mostRequests = 20_000_000
)

// Level is what requests saw in a run, as far as is known.
type Level struct {
	Kind   string // LevelRequests, LevelMeans or LevelSteps
	Why    string // where it is not LevelRequests
	Replay *serving.Result
	Means  *queueing.Result
	Users  int // 0 is unknown
}

// HasTime reports whether the time of an iteration and the KV cache are known.
func (s *Spec) HasTime() bool { return len(s.Config.Time.Lin) > 0 && s.Config.Blocks > 0 }

// ReadTable reads the service's own table of iterations, if it names one.
func (s *Spec) ReadTable(open func(name string) ([]byte, error)) error {
	err := s.ReadTimeTable(func(name string) (io.ReadCloser, error) {
		b, err := open(name)
		return io.NopCloser(bytes.NewReader(b)), err
	})
	if err == nil && s.HasTime() {
		s.completeServing()
	}
	return err
}

// Watch works out what the requests of src saw on the replicas of a run that ended at a time. src is nil
// where only the number of requests is known.
func (s *Spec) Watch(ctx context.Context, src traffic.Source, run *simulate.ServiceRun, end capcli.Seconds) (*Level, error) {
	switch {
	case src == nil:
		return &Level{Kind: LevelSteps, Why: "only the number of requests is known, not their tokens (requests: says them)"}, nil
	case !s.HasTime():
		return &Level{Kind: LevelSteps, Why: "the time of an iteration is not known: state model and gpu_model, or time and blocks"}, nil
	}
	out := &Level{Kind: LevelRequests, Users: src.Users()}
	limit := int64(autoRequests)
	if s.Detail == LevelRequests {
		limit = mostRequests
	}
	spans := spansOf(run)
	switch {
	case s.Detail == LevelMeans:
		out.Kind, out.Why = LevelMeans, "as level: means asks"
	case run.Requests > limit:
		out.Kind, out.Why = LevelMeans, fmt.Sprintf("%s requests are more than the %s that are played one by one (level: requests plays up to %s)", capcli.Grouped(run.Requests), capcli.Grouped(limit), capcli.Grouped(mostRequests))
	case len(spans) == 0:
		out.Kind, out.Why = LevelMeans, "no replica was ever ready"
	case len(spans) > serving.MaxReplicas:
		out.Kind, out.Why = LevelMeans, fmt.Sprintf("%s replicas came and went, more than the %s that are played one by one", capcli.Grouped(int64(len(spans))), capcli.Grouped(serving.MaxReplicas))
	}
	var err error
	if out.Kind == LevelMeans {
		out.Means, err = s.means(ctx, src, run)
		return out, err
	}
	list, err := traffic.Collect(src, end, int(limit))
	if err != nil {
		return nil, err
	}
	c := s.Config
	c.Replicas = spans
	out.Replay, err = serving.Replay(ctx, &c, list)
	return out, err
}

// spansOf returns the lives of the replicas that were ready for some time.
func spansOf(run *simulate.ServiceRun) []serving.Replica {
	var out []serving.Replica
	micros := func(t capcli.Seconds) int64 {
		if t < 0 {
			return -1
		}
		return int64(t) * 1_000_000
	}
	for i := range run.Replicas {
		if r := &run.Replicas[i]; r.Ready >= 0 {
			out = append(out, serving.Replica{Ready: micros(r.Ready), Drain: micros(r.Drain), Down: micros(r.Down)})
		}
	}
	return out
}

// means works out the means of each step of a run.
func (s *Spec) means(ctx context.Context, src traffic.Source, run *simulate.ServiceRun) (*queueing.Result, error) {
	l := lengthsOf(src)
	replica, err := s.queue(l)
	if err != nil {
		return nil, err
	}
	q := queueing.Request{Replica: replica, Lengths: l, Length: float64(run.Length), GPUs: max(1, s.Config.GPUs)}
	for i := range run.Steps {
		q.Steps = append(q.Steps, queueing.Step{Rate: float64(run.Steps[i].Load) / float64(run.Length), Ready: int64(run.Steps[i].Ready)})
	}
	return queueing.Estimate(ctx, &q, nil)
}

func lengthsOf(src traffic.Source) queueing.Lengths {
	l := src.Lengths()
	return queueing.Lengths{In: l.In.Mean, Out: l.Out.Mean, Cached: min(l.Cached.Mean, l.In.Mean)}
}

// queue returns the replica as the approximation knows it: what runs at once is limited by max_seqs, and by
// the blocks that sequences of the mean length hold in the KV cache.
func (s *Spec) queue(l queueing.Lengths) (queueing.Replica, error) {
	c := &s.Config
	r := queueing.Replica{Time: c.Time, Sequences: cmp.Or(c.MaxSeqs, 256), Chunk: c.MaxTokens, PrefillFirst: c.Policy == "prefill_first"}
	size := float64(max(1, c.BlockSize))
	if n := int64(float64(c.Blocks-c.Watermark) * size / (l.In + l.Out/2*(1+l.Variation) + size/2)); n < r.Sequences {
		r.Sequences = n
	}
	if r.Sequences < 1 {
		return r, s.fault("blocks", fmt.Sprintf("the KV cache of a replica does not hold one request of %.0f tokens", l.In+l.Out))
	}
	return r, nil
}

// PerReplica returns the requests that a ready replica serves in a step, and where the number is from if the
// service does not state it: by the approximation, the most at which a replica stays under the load at which
// the approximation holds, and at which the mean times of requests are within the promise.
func (s *Spec) PerReplica(src traffic.Source) (int64, string, error) {
	switch {
	case s.PerStep > 0:
		return s.PerStep, "", nil
	case src == nil || !s.HasTime():
		return 0, "", s.fault("mu", "mu is missing: the requests that a ready replica serves in a step; or state model, gpu_model and requests, from which it follows")
	}
	l := lengthsOf(src)
	r, err := s.queue(l)
	if err != nil {
		return 0, "", err
	}
	station, err := queueing.NewStation(r, l)
	if err != nil {
		return 0, "", err
	}
	most, err := station.Means(1e-6)
	if err != nil {
		return 0, "", err
	}
	if !s.keepsInMean(&most) {
		return 0, "", s.fault("promise", fmt.Sprintf("a request alone on a replica takes %.0f ms to its first token and %.1f ms for each later one in the mean: no number of replicas keeps the promise", most.TTFT*1000, most.TPOT*1000))
	}
	lo, hi := 0.0, queueing.HoldsBelow*most.Saturation
	if m, err := station.Means(hi); err != nil || s.keepsInMean(&m) {
		lo = hi
	}
	for range 40 {
		if hi-lo < 1e-4*hi {
			break
		}
		mid := (lo + hi) / 2
		if m, err := station.Means(mid); err == nil && s.keepsInMean(&m) {
			lo = mid
		} else {
			hi = mid
		}
	}
	n := int64(math.Floor(lo * float64(s.StepLength())))
	if n < 1 {
		return 0, "", s.fault("step", fmt.Sprintf("a replica serves %.2g requests a second, less than one in a step of %s; take longer steps", lo, s.StepLength()))
	}
	return n, fmt.Sprintf("a ready replica of %s is taken to serve %s requests in a step of %s, %.0f%% of what it serves at most (by the approximation, for requests of the mean length)",
		s.Name, capcli.Grouped(n), s.StepLength(), 100*lo/most.Saturation), nil
}

// keepsInMean reports whether means are within the promise.
func (s *Spec) keepsInMean(m *queueing.Means) bool {
	p := &s.Config.SLO
	within := func(v float64, limit int64) bool { return limit == 0 || v*1e6 <= float64(limit) }
	return within(m.TTFT, p.TTFT) && within(m.TPOT, p.TPOT) && within(m.E2E, p.E2E)
}

// Bound returns the least replica-hours of any scaler that knows the load beforehand and lets nobody wait
// beyond a step: see scale.Case.Bound. It reports false where more replicas than allowed would be
// needed. late is how long a replica takes from its order to its first request.
func (s *Spec) Bound(load []int64, perReplica int64, late capcli.Seconds) (float64, bool) {
	step := s.StepLength()
	c := scale.Case{Length: step, PerUnit: perReplica, ColdSteps: int((late + step - 1) / step), Scaler: s.Scaler, Load: load}
	n := c.Bound()
	if n == nil {
		return 0, false
	}
	return float64(*n) * float64(step) / 3600, true
}

// WriteSteps writes the steps of a service in a run as CSV, with the columns of capcli service scale. Replicas
// that were wanted and had no room are in no column but desired.
func WriteSteps(w io.Writer, run *simulate.ServiceRun) error {
	rows := make([]scale.Row, len(run.Steps))
	for i := range run.Steps {
		x := &run.Steps[i]
		rows[i] = scale.Row{Step: i, Load: x.Load, Ready: x.Ready, Loading: x.Loading, Served: x.Served, Backlog: x.Backlog, Desired: x.Desired}
	}
	return scale.WriteRows(w, rows)
}
