package profile

import (
	"math"
	"slices"

	"capcli"
	"capcli/profile/accelerator"
	"capcli/profile/gang"
	"capcli/profile/rhythm"
	"capcli/profile/timeline"
)

// WorthResult is what a job is worth knowing by. Unknown values are null.
type WorthResult struct {
	Tokens           *RateResult      `json:"tokens_per_s"`           // as the job told; null where it did not
	Samples          *RateResult      `json:"samples_per_s"`          // likewise
	TokensPerGPUHour capcli.Figure    `json:"tokens_per_gpu_hour"`    // while it told
	USDPerMTokens    *capcli.USD      `json:"usd_per_million_tokens"` // at the price of a GPU-hour, while it told
	MFU              capcli.Figure    `json:"mfu_pct"`                // as the job told: the share of the peak that the model's own operations reach
	MFUAtMost        capcli.Figure    `json:"mfu_pct_at_most"`        // an estimate: the time in which tensor cores worked bounds MFU from above
	Step             StepResult       `json:"step"`
	Changes          []ChangeResult   `json:"changes"` // lasting ones, of the step time and of the tokens a second
	Straggler        *StragglerResult `json:"straggler"`
	StragglerWhy     string           `json:"no_straggler_why,omitempty"`
	Ranks            []RankResult     `json:"ranks"`                  // of a job of several devices
	InputKeptUp      capcli.Figure    `json:"speed_if_input_kept_up"` // times as fast, if it never waited for input
	Others           []ToldResult     `json:"told"`                   // other figures that it told
}

// RateResult is how fast a job got through its tokens or samples, as it told.
type RateResult struct {
	Mean    capcli.Figure `json:"mean"`
	P50     capcli.Figure `json:"p50"`
	P5      capcli.Figure `json:"p5"` // it was slower for 5 % of the time
	Total   capcli.Figure `json:"total"`
	Share   capcli.Figure `json:"told_share"` // of the job's time for which it told
	Tellers int           `json:"ranks_telling"`
}

// ToldResult is a figure that a job told under a name of its own.
type ToldResult struct {
	Name    string        `json:"name"`
	Mean    capcli.Figure `json:"mean"`
	P50     capcli.Figure `json:"p50"`
	P5      capcli.Figure `json:"p5"`
	Tellers int           `json:"ranks_telling"`
}

// StepResult is the length of a job's steps.
type StepResult struct {
	Seconds capcli.Figure `json:"step_s"`
	Low     capcli.Figure `json:"step_s_low"`  // of the windows that agree, or the 5th percentile of what was told
	High    capcli.Figure `json:"step_s_high"` // likewise, or the 95th
	Source  string        `json:"source"`      // told, samples, or "" where it cannot be told
	Judged  int64         `json:"windows"`     // of some minutes of one GPU
	Agree   int64         `json:"windows_agree"`
	// Sure is set where the samples rule out a step shorter than two samples, which they would show as this one.
	Sure bool   `json:"no_shorter_step"`
	Why  string `json:"unknown_why,omitempty"`
}

// ChangeResult is a lasting change of a level.
type ChangeResult struct {
	At     string        `json:"at"`   // RFC 3339
	What   string        `json:"what"` // step_s or tokens_per_s
	From   capcli.Figure `json:"from"`
	To     capcli.Figure `json:"to"`
	Factor capcli.Figure `json:"factor"`
}

// RankResult is what a job did on one of its devices.
type RankResult struct {
	Host   string        `json:"host"`
	GPU    int           `json:"gpu"`
	UUID   string        `json:"gpu_uuid"`
	Held   capcli.Figure `json:"held_hours"`
	MemMax capcli.Figure `json:"mem_used_bytes_max"`
	Util   capcli.Figure `json:"util_gpu_pct_mean"`
	SM     capcli.Figure `json:"sm_active_pct_mean"`
	Tensor capcli.Figure `json:"tensor_active_pct_mean"`
	Wait   capcli.Figure `json:"wait_pct_mean"` // time in kernels less the share of SMs active
}

// StragglerResult is the rank that the others wait for.
type StragglerResult struct {
	Host       string          `json:"host"`
	GPU        int             `json:"gpu"`
	UUID       string          `json:"gpu_uuid"`
	Cause      gang.Cause      `json:"cause"`
	Evidence   string          `json:"evidence"`
	Share      capcli.Figure   `json:"share_of_time"`
	From       string          `json:"from"` // hour, RFC 3339
	To         string          `json:"to"`
	Wait       capcli.Figure   `json:"wait_pct"`
	OthersWait capcli.Figure   `json:"others_wait_pct"`
	Lost       capcli.Figure   `json:"lost_gpu_hours"` // of the whole job
	LostCost   *capcli.USD     `json:"lost_usd,omitempty"`
	Confidence gang.Confidence `json:"confidence"`
}

// stampOf is an hour, counted from 1970-01-01 UTC, in RFC 3339.
func stampOf(hour int64) string { return Instant(hour * hourMicros).Stamp() }

// Worth is what the job is worth knowing by, at the price of a GPU-hour.
func (j *JobUse) Worth(price *capcli.USD) WorthResult {
	out := WorthResult{Changes: []ChangeResult{}, Ranks: []RankResult{}, Others: []ToldResult{}, Step: j.step(), InputKeptUp: capcli.Figure(j.InputFactor())}
	out.TokensPerGPUHour, out.MFU, out.MFUAtMost = capcli.Figure(math.NaN()), capcli.Figure(j.toldMFU()), capcli.Figure(j.Use.Tensor.Mean())
	if r, ok := j.Tokens(); ok {
		out.Tokens = j.rateResult(r)
		perHour := r.Total / (j.Use.HeldHours() * j.toldShare(r))
		out.TokensPerGPUHour = capcli.Figure(perHour)
		if price != nil && perHour > 0 {
			cost := capcli.USD(math.Round(float64(*price) * 1e6 / perHour))
			out.USDPerMTokens = &cost
		}
	}
	if r, ok := j.Samples(); ok {
		out.Samples = j.rateResult(r)
	}
	out.Changes = append(out.Changes, j.changes()...)
	j.rankResults(&out, price)
	for i, t := range j.told {
		if isOurs(t.Name) || i > 0 && j.told[i-1].Name == t.Name {
			continue
		}
		if r, ok := j.toldRate(t.Name); ok {
			out.Others = append(out.Others, ToldResult{t.Name, capcli.Figure(r.Mean), capcli.Figure(r.P50), capcli.Figure(r.P5), r.Tellers})
		}
	}
	return out
}

// isOurs reports whether a name has a field of its own in WorthResult.
func isOurs(name string) bool {
	return slices.Contains([]string{ToldTokens, ToldGPUTokens, ToldSamples, ToldGPUSamples, ToldStep, ToldMFU}, name)
}

// toldShare is the share of the job's time for which a rate was told.
func (j *JobUse) toldShare(r Rate) float64 {
	return min(1, float64(r.Micros)/float64(max(1, j.To-j.From)))
}

func (j *JobUse) rateResult(r Rate) *RateResult {
	return &RateResult{capcli.Figure(r.Mean), capcli.Figure(r.P50), capcli.Figure(r.P5), capcli.Figure(r.Total), capcli.Figure(j.toldShare(r)), r.Tellers}
}

// toldMFU is the MFU in percent that the job told, or that follows from the operations that it told; NaN where it
// told neither.
func (j *JobUse) toldMFU() float64 {
	if r, ok := j.toldRate(ToldMFU); ok {
		return r.Mean
	}
	r, ok := j.toldRate(ToldTFLOPS)
	m, known := accelerator.Find(j.Model)
	if !ok || !known {
		return math.NaN()
	}
	peak, has := m.TFLOPS("bf16")
	if !has {
		return math.NaN()
	}
	return 100 * r.Mean / peak
}

// InputFactor is how many times as fast the job would be if it never waited for input; NaN where that is not known.
func (j *JobUse) InputFactor() float64 {
	u := j.Use
	if u.Held == 0 || u.SM.Micros == 0 && u.Util.Micros == 0 {
		return math.NaN()
	}
	return float64(u.Held) / float64(max(1, u.Held-u.Starved))
}

// step is the length of the job's steps: as it told, else by its samples.
func (j *JobUse) step() StepResult {
	s := j.Use.Steps.Step()
	out := StepResult{Judged: s.Judged, Agree: s.Agree, Sure: s.Sure}
	nan := capcli.Figure(math.NaN())
	var told Told
	for _, t := range j.told {
		if t.Name == ToldStep {
			told.Merge(&t.Told)
		}
	}
	switch {
	case told.Micros > 0:
		out.Seconds, out.Low, out.High = capcli.Figure(told.Quantile(0.5)), capcli.Figure(told.Quantile(0.05)), capcli.Figure(told.Quantile(0.95))
		out.Source, out.Sure = "told", true
	case s.Seconds > 0:
		out.Seconds, out.Low, out.High, out.Source = capcli.Figure(s.Seconds), capcli.Figure(s.Low), capcli.Figure(s.High), "samples"
	default:
		out.Seconds, out.Low, out.High = nan, nan, nan
		switch {
		case s.Judged == 0:
			out.Why = "cannot tell: no window of some minutes with work that changes"
		case s.Shown == 0:
			out.Why = "cannot tell: no window shows a period; steps under 2.5 samples cannot be seen"
		default:
			out.Why = "cannot tell: too few windows show the same period"
		}
	}
	return out
}

// changes are the lasting changes of the step time and of the tokens a second.
func (j *JobUse) changes() (out []ChangeResult) {
	var steps, tokens []timeline.Level
	j.steps.All(func(hour int64, t *rhythm.Tally) {
		if s := t.Step(); s.Seconds > 0 {
			steps = append(steps, timeline.Level{Hour: hour, Value: s.Seconds})
		}
	})
	var sums timeline.Timeline[toldHour, *toldHour]
	for _, t := range j.told {
		if t.Name == ToldTokens || t.Name == ToldGPUTokens {
			sums.Merge(&t.hours)
		}
	}
	sums.All(func(hour int64, h *toldHour) {
		tokens = append(tokens, timeline.Level{Hour: hour, Value: h.sum.Float() / toldUnits / float64(max(1, h.micros))})
	})
	for _, of := range []struct {
		what   string
		levels []timeline.Level
	}{{ToldStep, steps}, {ToldTokens, tokens}} {
		for _, c := range timeline.Changes(of.levels) {
			out = append(out, ChangeResult{stampOf(c.Hour), of.what, capcli.Figure(c.From), capcli.Figure(c.To), capcli.Figure(c.To / c.From)})
		}
	}
	return out
}

// rankResults fills in the ranks of a job of several devices.
func (j *JobUse) rankResults(out *WorthResult, price *capcli.USD) {
	ranks := j.Ranks()
	if len(ranks) < 2 {
		return
	}
	for _, r := range ranks {
		out.Ranks = append(out.Ranks, RankResult{
			r.Host, r.Device.Index, r.Device.UUID, capcli.Figure(hours(float64(r.Held))), capcli.Figure(r.MemoryBytes),
			capcli.Figure(r.Util.Mean()), capcli.Figure(r.SM.Mean()), capcli.Figure(r.Tensor.Mean()), capcli.Figure(r.WaitShare()),
		})
	}
	s := j.Straggler()
	if s.Rank < 0 {
		out.StragglerWhy = s.Why
		return
	}
	r := ranks[s.Rank]
	parts := int64(0)
	for _, r := range ranks {
		parts += r.Device.Share()
	}
	lost := s.Seconds / 3600 * float64(parts) / float64(wholeGPU*len(ranks)) // ranks on MIG instances hold a share of a GPU each
	x := &StragglerResult{
		Host: r.Host, GPU: r.Device.Index, UUID: r.Device.UUID, Cause: s.Cause, Evidence: s.Evidence, Share: capcli.Figure(s.Share), From: stampOf(s.From), To: stampOf(s.To),
		Wait: capcli.Figure(s.Wait), OthersWait: capcli.Figure(s.OthersWait), Lost: capcli.Figure(lost), Confidence: s.Confidence,
	}
	if price != nil {
		cost := capcli.USD(math.Round(float64(*price) * lost))
		x.LostCost = &cost
	}
	out.Straggler = x
}
