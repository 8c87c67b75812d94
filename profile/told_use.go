package profile

import (
	"cmp"
	"slices"
	"strings"

	"capcli/profile/timeline"
)

// The names of figures that a summary knows. Readings may have others.
const (
	ToldTokens        = "tokens_per_s"
	ToldGPUTokens     = "tokens_per_gpu_s" // of one GPU of the job
	ToldSamples       = "samples_per_s"
	ToldGPUSamples    = "samples_per_gpu_s" // of one GPU of the job
	ToldStep          = "step_s"
	ToldMFU           = "mfu_pct"
	ToldTFLOPS        = "tflops_per_gpu"
	ToldPromptsTokens = "prompt_tokens_per_s"
)

// AddsUp reports whether what several ranks of a job tell under a name is to be added up. Of other names the mean
// counts.
func AddsUp(name string) bool {
	return name == ToldTokens || name == ToldSamples || name == ToldPromptsTokens
}

// ToldUse is what one teller told under one name.
type ToldUse struct {
	Host, Device, Name string // Device is the UUID of a rank's device; "" is not known
	Told               Told
	hours              timeline.Timeline[toldHour, *toldHour]
}

// toldHour is the sums of some hours.
type toldHour struct {
	micros int64
	sum    Sum
}

// Merge adds the sums of o.
func (h *toldHour) Merge(o *toldHour) {
	h.micros += o.micros
	h.sum.Merge(o.sum)
}

// Compare orders by name, box and device.
func (t *ToldUse) Compare(o *ToldUse) int {
	return cmp.Or(strings.Compare(t.Name, o.Name), strings.Compare(t.Host, o.Host), strings.Compare(t.Device, o.Device))
}

// key is the key of the job that h is on a box.
func (h *Holder) key(host string) jobKey {
	if h.Everywhere() {
		host = ""
	}
	return jobKey{host, h.ref()}
}

// mostTellersOfJob is the most tellers and names of one job that are kept.
const mostTellersOfJob = 16384

// AddTold takes what a program told in an hour. It may come before or after the spans of its job.
func (z *Summarizer) AddTold(s *ToldSpan) {
	key := s.Holder.key(s.Host)
	one := &ToldUse{Host: s.Host, Device: s.Device, Name: s.Name}
	all := z.told[key]
	i := slices.IndexFunc(all, func(t *ToldUse) bool { return t.Compare(one) == 0 })
	if i < 0 {
		if len(all) >= mostTellersOfJob {
			return
		}
		i = len(all)
		z.told[key] = append(all, one)
	}
	t := z.told[key][i]
	t.Told.Merge(&s.Told)
	t.hours.At(int64(s.Hour / hourMicros)).Merge(&toldHour{s.Told.Micros, s.Told.Sum})
}

// shareTold gives what was told to the jobs.
func (z *Summarizer) shareTold() {
	z.out.Untold = nil
	for key, all := range z.told {
		if z.fold.holds(key) {
			continue
		}
		slices.SortFunc(all, (*ToldUse).Compare)
		if j := z.jobs[key]; j != nil {
			j.told = all
			continue
		}
		z.out.Untold = append(z.out.Untold, all...)
	}
	slices.SortFunc(z.out.Untold, func(a, b *ToldUse) int {
		return cmp.Or(strings.Compare(a.Host, b.Host), a.Compare(b), cmp.Compare(a.Told.Micros, b.Told.Micros), cmp.Compare(a.Told.Mean(), b.Told.Mean()))
	})
}

// addHour counts the part of a span for the ranks of the job and for its steps over time.
func (j *JobUse) addHour(x *holding, s *Span, p *Part) {
	if x.rank == nil {
		x.rank = j.rank(s.Host, s.Device)
	}
	x.rank.add(s.Hour, p.Use, len(s.Parts) == 1)
	if len(p.Use.Steps.Bins) > 0 {
		j.steps.At(int64(s.Hour / hourMicros)).Merge(&p.Use.Steps)
	}
}

// Rate is how fast a job got through its tokens or samples, as it told.
type Rate struct {
	Mean, P50, P5 float64 // a second, of the whole job
	Total         float64
	Micros        int64 // time for which it was told
	Tellers       int   // ranks that told it
}

// toldRate returns the rate that a job told under a name. known is false where it told none.
func (j *JobUse) toldRate(name string) (out Rate, known bool) {
	var all Told
	for _, t := range j.told {
		if t.Name == name && t.Told.Micros > 0 {
			all.Merge(&t.Told)
			out.Tellers++
			out.Micros = max(out.Micros, t.Told.Micros)
		}
	}
	if out.Tellers == 0 {
		return out, false
	}
	out.Mean, out.P50, out.P5 = all.Mean(), all.Quantile(0.5), all.Quantile(0.05)
	seconds := float64(out.Micros) / 1e6
	if AddsUp(name) {
		scale := all.Total() / seconds / max(out.Mean, 1e-300)
		out.Mean, out.P50, out.P5 = out.Mean*scale, out.P50*scale, out.P5*scale
	}
	out.Total = out.Mean * seconds
	return out, true
}

// rateOf returns the rate of the job, told for all of it or for one of its GPUs.
func (j *JobUse) rateOf(name, ofGPU string) (Rate, bool) {
	if r, ok := j.toldRate(name); ok {
		return r, true
	}
	r, ok := j.toldRate(ofGPU)
	n := float64(j.Devices)
	r.Mean, r.P50, r.P5, r.Total = r.Mean*n, r.P50*n, r.P5*n, r.Total*n
	return r, ok
}

// Tokens returns the tokens a second that the job told.
func (j *JobUse) Tokens() (Rate, bool) { return j.rateOf(ToldTokens, ToldGPUTokens) }

// Samples returns the samples a second that the job told.
func (j *JobUse) Samples() (Rate, bool) { return j.rateOf(ToldSamples, ToldGPUSamples) }
