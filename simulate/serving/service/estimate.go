package service

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/simulate/serving/queueing"
	"capcli/simulate/serving/scale"
)

// EstimateRequest asks for the means of a service, at one rate or over a long time.
type EstimateRequest struct {
	Spec      string
	Rate      float64        // requests a second; 0 is not given
	In, Out   float64        // mean tokens of a request; 0 is not given
	Cached    float64        // mean tokens of a prompt that a prefix cache supplies
	Variation float64        // squared coefficient of variation of answers
	Replicas  int            // 0 takes those of the service, or its scaler's
	Load      string         // file of rates by step; "" is none
	Step      capcli.Seconds // of Load and For; 0 takes that of the service
	For       capcli.Seconds // how long the requests of the service itself come
	Seed      uint64
	WantSteps bool // whether the means of each step are wanted
}

// Check refuses a wrong request.
func (q *EstimateRequest) Check() error {
	ways := 0
	for _, given := range []bool{q.Rate != 0, q.Load != "", q.For != 0} {
		if given {
			ways++
		}
	}
	switch {
	case ways != 1:
		return &capcli.RequestError{
			Field: "rate", Text: ": say once how many requests come",
			Hint: "rate=12, or load=F.csv with the rate of each step, or for=1y of the requests that SPEC states",
		}
	case q.Replicas < 0 || q.Replicas > maxUnits:
		return &capcli.RequestError{Field: "replicas", Text: fmt.Sprintf("wants 1 to %d, found %d", maxUnits, q.Replicas)}
	case q.Rate != 0 && (q.In == 0 || q.Out == 0):
		return &capcli.RequestError{Field: "tokens-in", Text: "and tokens-out: a rate needs the mean lengths of requests", Hint: "tokens-in=512 tokens-out=128"}
	case q.Rate != 0 && !(q.Rate > 0 && q.Rate <= 1e9):
		return &capcli.RequestError{Field: "rate", Text: fmt.Sprintf("wants requests a second, above 0 and up to 1e9, found %v", q.Rate)}
	case q.In != 0 && !(q.In >= 1):
		return &capcli.RequestError{Field: "tokens-in", Text: fmt.Sprintf("wants 1 token or more, found %v", q.In)}
	case q.Out != 0 && !(q.Out >= 1):
		return &capcli.RequestError{Field: "tokens-out", Text: fmt.Sprintf("wants 1 token or more, found %v", q.Out)}
	case q.WantSteps && q.Rate != 0:
		return &capcli.RequestError{Field: "steps-out", Text: "wants --load or --for: a single rate has no steps"}
	case q.Step < 0 || q.For < 0:
		return &capcli.RequestError{Field: "step", Text: "wants a length of time"}
	}
	return nil
}

// Estimate is the answer: means by the approximation.
type Estimate struct {
	Schema     string   `json:"schema"`
	Service    string   `json:"service"`
	Replicas   int64    `json:"replicas"` // the most of any step
	GPUs       int64    `json:"gpus"`     // of Replicas
	Sequences  int64    `json:"sequences"`
	Limit      string   `json:"sequences_limit"` // max_seqs or kv_cache: what limits Sequences
	Rate       float64  `json:"rate_rps,omitempty"`
	In         float64  `json:"tokens_in_mean"`
	Out        float64  `json:"tokens_out_mean"`
	Fewest     int64    `json:"fewest_replicas,omitempty"` // that have the load at which the approximation holds
	USDPerHour *float64 `json:"usd_per_hour,omitempty"`    // where the service has a price
	USDPerM    *float64 `json:"usd_per_mtok,omitempty"`    // over a million tokens of prompts and answers

	*queueing.Means                  // of one replica, at a single rate
	Curve           *queueing.Result `json:"curve,omitempty"`
	Notes           []string         `json:"notes"`
}

// RunEstimate works an estimate out.
func RunEstimate(ctx context.Context, q *EstimateRequest, open trace.Opener, note func(string), done func(n, total int64)) (*Estimate, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	s, err := ReadSpec(open, q.Spec)
	if err != nil {
		return nil, err
	}
	if s.HasBatchTime() {
		return nil, &capcli.InputError{File: q.Spec, Field: "batch_time", Text: "means are estimated for requests with tokens", Hint: "capcli service replay plays the requests of this service"}
	}
	e := &estimator{EstimateRequest: q, spec: s, open: open, note: note}
	out, err := e.run(ctx, done)
	if err != nil {
		return nil, capcli.NameFile(err, q.Spec)
	}
	return out, nil
}

// estimator works one estimate out.
type estimator struct {
	*EstimateRequest
	spec    *Spec
	open    trace.Opener
	note    func(string)
	lengths queueing.Lengths
	out     Estimate
}

func (e *estimator) run(ctx context.Context, done func(n, total int64)) (*Estimate, error) {
	e.out = Estimate{Schema: "capcli/service_estimate/v1", Service: e.spec.Name, Notes: []string{}}
	e.lengths = queueing.Lengths{In: e.In, Out: e.Out, Cached: e.Cached, Variation: e.Variation}
	if e.Rate > 0 {
		return e.point()
	}
	steps, err := e.steps(ctx)
	if err != nil {
		return nil, err
	}
	replica, err := e.replica()
	if err != nil {
		return nil, err
	}
	if err := e.staff(replica, steps); err != nil {
		return nil, err
	}
	least := int64(math.MaxInt64)
	for _, s := range steps {
		e.out.Replicas = max(e.out.Replicas, s.Ready)
		if s.Ready > 0 {
			least = min(least, s.Ready)
		}
	}
	if e.spec.Config.Router == "round_robin" {
		replica.Gaps = 1 / float64(least)
	}
	q := queueing.Request{
		Replica: replica, Lengths: e.lengths, Length: float64(e.step()), Steps: steps,
		GPUs: max(1, e.spec.Config.GPUs), Price: e.spec.Config.Price,
	}
	c, err := queueing.Estimate(ctx, &q, done)
	if err != nil {
		return nil, err
	}
	e.out.Curve = c
	e.out.In, e.out.Out = e.lengths.In, e.lengths.Out
	if c.Served > 0 {
		e.out.In, e.out.Out = c.TokensIn/c.Served, c.TokensOut/c.Served
	}
	e.finish(c.TokensIn+c.TokensOut, c.USD, c.Seconds)
	return &e.out, nil
}

func (e *estimator) point() (*Estimate, error) {
	replica, err := e.replica()
	if err != nil {
		return nil, err
	}
	e.out.Replicas = int64(e.replicas())
	if c := &e.spec.Config; c.Router == "round_robin" {
		replica.Gaps = 1 / float64(e.out.Replicas)
	}
	station, err := queueing.NewStation(replica, e.lengths)
	if err != nil {
		return nil, err
	}
	m, err := station.Means(e.Rate / float64(e.out.Replicas))
	if err != nil {
		return nil, err
	}
	e.out.Means, e.out.Rate, e.out.In, e.out.Out = &m, e.Rate, e.In, e.Out
	e.out.Fewest = int64(math.Floor(e.Rate/(queueing.HoldsBelow*m.Saturation))) + 1
	perSecond := float64(e.out.Replicas*max(1, e.spec.Config.GPUs)) * e.spec.Config.Price / 3600
	e.finish(min(e.Rate, m.Saturation*float64(e.out.Replicas))*(e.In+e.Out), perSecond, 1)
	if m.PWait > 0.01 && e.out.Limit == "kv_cache" {
		e.out.Notes = append(e.out.Notes, "the KV cache limits what runs at once; preemptions, which the approximation does not know, make times longer")
	}
	return &e.out, nil
}

// finish completes the answer with what follows from the tokens and the dollars of a time in seconds.
func (e *estimator) finish(tokens, usd, time float64) {
	e.out.GPUs = e.out.Replicas * max(1, e.spec.Config.GPUs)
	if hour := usd / time * 3600; usd > 0 {
		e.out.USDPerHour = &hour
	}
	if per := usd * 1e6 / tokens; usd > 0 && tokens > 0 {
		e.out.USDPerM = &per
	}
	e.out.Notes = append(e.out.Notes, "means only, with requests spread evenly over the replicas; for p99 and a promise play the requests: capcli service replay")
	if e.Variation == 0 {
		e.out.Notes = append(e.out.Notes, "answers are taken as alike; where they vary, load is higher than this (--variation 1 for an exponential law)")
	}
}

// replicas returns the replicas that serve throughout.
func (e *estimator) replicas() int {
	switch {
	case e.Replicas > 0:
		return e.Replicas
	case len(e.spec.Config.Replicas) > 0:
		return len(e.spec.Config.Replicas)
	}
	return e.spec.InitialReplicas()
}

func (e *estimator) step() capcli.Seconds {
	if e.Step > 0 {
		return e.Step
	}
	return e.spec.StepLength()
}

// replica returns the replica as the approximation knows it: the sequences that run at once are limited by
// max_seqs, and by the blocks that sequences of the mean length hold in the KV cache.
func (e *estimator) replica() (queueing.Replica, error) {
	c := &e.spec.Config
	r := queueing.Replica{Time: c.Time, Sequences: c.MaxSeqs, Chunk: c.MaxTokens}
	switch c.Policy {
	case "", "chunked":
	case "prefill_first":
		r.PrefillFirst = true
	default:
		return r, &capcli.RequestError{Field: "policy", Text: "is " + c.Policy + ", which the approximation does not know: want chunked or prefill_first", Hint: "capcli service replay plays every policy"}
	}
	if len(c.Time.Lin) == 0 {
		return r, e.spec.fault("time", "the time of an iteration is missing: give time, or a model and its GPUs")
	}
	e.out.Limit = "max_seqs"
	if r.Sequences == 0 {
		r.Sequences = usualServing.Config.MaxSeqs
	}
	if c.Blocks > 0 {
		size := float64(max(1, c.BlockSize))
		holds := e.lengths.In + e.lengths.Out/2*(1+e.lengths.Variation) + size/2
		if n := int64(float64(c.Blocks-c.Watermark) * size / holds); n < r.Sequences {
			r.Sequences, e.out.Limit = n, "kv_cache"
		}
		if r.Sequences < 1 {
			return r, e.spec.fault("blocks", fmt.Sprintf("the KV cache of a replica does not hold one request of %.0f tokens", e.lengths.In+e.lengths.Out))
		}
	}
	e.out.Sequences = r.Sequences
	return r, nil
}

// staff sets the ready replicas of each step that has none: those that were asked for, or those of the
// service's scaler, which sees the load of each step.
func (e *estimator) staff(r queueing.Replica, steps []queueing.Step) error {
	if e.Replicas == 0 && e.spec.Scaler != nil {
		return e.scale(r, steps)
	}
	n := int64(e.replicas())
	for i := range steps {
		if steps[i].Ready < 0 || e.Replicas > 0 {
			steps[i].Ready = n
		}
	}
	return nil
}

// scale plays the scaler. What a replica serves in a step is what the service says, or else what it serves
// at the load at which the approximation holds.
func (e *estimator) scale(r queueing.Replica, steps []queueing.Step) error {
	length := float64(e.step())
	load := make([]int64, len(steps))
	carry := 0.0
	for i := range steps {
		carry += steps[i].Rate * length
		load[i] = int64(carry)
		carry -= float64(load[i])
	}
	own := *e.spec
	own.Step = e.step()
	if own.PerStep == 0 {
		station, err := queueing.NewStation(r, e.lengths)
		if err != nil {
			return err
		}
		own.PerStep = int64(max(1, station.Saturation()*queueing.HoldsBelow*length))
		e.note(fmt.Sprintf("a replica is taken to serve %d requests in a step of %s, %.0f%% of what it serves at most", own.PerStep, own.Step, 100*queueing.HoldsBelow))
	}
	c, err := own.ScaleCase(load)
	if err != nil {
		return err
	}
	run, err := scale.Play(c)
	if err != nil {
		return err
	}
	for i := range steps {
		steps[i].Ready = int64(run.Rows[i].Ready)
	}
	return nil
}

// steps returns the load of each step; Ready is -1 where it is not said.
func (e *estimator) steps(ctx context.Context) ([]queueing.Step, error) {
	if e.Load != "" {
		steps, err := e.readLoad()
		return steps, capcli.NameFile(err, e.Load)
	}
	t, err := e.spec.Traffic(ctx, Opening{Open: e.open, Start: capcli.NoTime, Seed: capcli.Seed(e.Seed), Note: e.note})
	if err != nil {
		return nil, err
	}
	n := int((e.For + e.step() - 1) / e.step())
	if n > maxEstimateSteps {
		return nil, &capcli.RequestError{Field: "for", Text: fmt.Sprintf("has %d steps of %s; at most %d are worked out", n, e.step(), maxEstimateSteps), Hint: "step=5m"}
	}
	counts, err := t.Counts(e.step(), n)
	if err != nil {
		return nil, err
	}
	l := t.Lengths()
	if e.In == 0 {
		e.lengths.In = l.In.Mean
	}
	if e.Out == 0 {
		e.lengths.Out = l.Out.Mean
	}
	if e.Cached == 0 {
		e.lengths.Cached = min(l.Cached.Mean, e.lengths.In)
	}
	steps := make([]queueing.Step, n)
	for i, c := range counts {
		steps[i] = queueing.Step{Rate: float64(c) / float64(e.step()), Ready: -1}
	}
	return steps, nil
}

// maxEstimateSteps limits the steps of an estimate: 20 years of minutes.
const maxEstimateSteps = 10_600_000

// SetTimes reads the lengths of times of a request; "" is not given.
func (q *EstimateRequest) SetTimes(step, span string) error {
	for _, x := range []struct {
		field, text string
		to          *capcli.Seconds
	}{{"step", step, &q.Step}, {"for", span, &q.For}} {
		if x.text == "" {
			continue
		}
		t, err := capcli.ParseSeconds(x.text)
		if years, ok := strings.CutSuffix(x.text, "y"); ok {
			var n int64
			n, err = strconv.ParseInt(years, 10, 8)
			t = capcli.Seconds(n) * 365 * capcli.Day
		}
		if err != nil || t <= 0 {
			return &capcli.RequestError{Field: x.field, Text: "wants a length of time such as 1m, 30d or 1y, found " + capcli.Quoted(x.text)}
		}
		*x.to = t
	}
	return nil
}

// Steps returns the means of each step of a long time.
func (r *Estimate) Steps() []queueing.StepMeans {
	if r.Curve == nil {
		return nil
	}
	return r.Curve.Steps
}

// IsSteady reports whether the means are those of a steady state: fewer come than are served.
func (r *Estimate) IsSteady() bool { return r.Means == nil || r.Load < 1 }

// States returns how many steady states were worked out.
func (r *Estimate) States() int64 {
	if r.Curve == nil {
		return 1
	}
	return int64(r.Curve.Evaluated)
}

// Lead returns the answer in a sentence or two.
func (r *Estimate) Lead() string {
	fleet := capcli.Grouped(r.Replicas) + " " + capcli.Plural(r.Replicas, "replica") + " (" + capcli.Grouped(r.GPUs) + " " + capcli.Plural(r.GPUs, "GPU") + ")"
	if c := r.Curve; c != nil {
		text := fmt.Sprintf("%s requests in %s on at most %s: E2E %s and TTFT %s in the mean.", capcli.Grouped(int64(math.Round(c.Requests))),
			capcli.Seconds(math.Round(c.Seconds)), fleet, seconds(c.E2E), seconds(c.TTFT))
		if c.Served == 0 {
			text = fmt.Sprintf("None of %s requests is served on %s.", capcli.Grouped(int64(math.Round(c.Requests))), fleet)
		}
		if c.Backlog >= 0.5 {
			text += fmt.Sprintf(" %s are not served by the end.", capcli.Grouped(int64(math.Round(c.Backlog))))
		}
		if !c.Holds {
			text += " It does not hold throughout: " + c.Because + "."
		}
		return text
	}
	if !r.IsSteady() {
		return fmt.Sprintf("%g requests a second are more than %s serve: at most %.4g. At least %s are needed.", r.Rate, fleet, r.Saturation*float64(r.Replicas), capcli.Grouped(r.Fewest))
	}
	text := fmt.Sprintf("%g requests a second on %s: E2E %s, TTFT %s and TPOT %s in the mean, at a load of %.0f%%.", r.Rate, fleet, seconds(r.E2E), seconds(r.TTFT), seconds(r.TPOT), 100*r.Load)
	if !r.Holds {
		text += " It does not hold: " + r.Because + "."
	}
	return text
}

// seconds writes a time in its unit.
func seconds(s float64) string { return capcli.MicrosText(s * 1e6) }
