package sizing

import (
	"context"
	"fmt"
	"slices"

	"capcli"
)

// onDemand is the term of GPUs without a commitment.
const onDemand = "on demand"

// Plan sizes the service. It fails with *capcli.RequestError for a wrong request, and with
// *capcli.InputError for requests that cannot be played. Where no choice keeps the promises the result
// says so: see Result.NoPlan.
func (r *Request) Plan(ctx context.Context) (*Result, error) {
	q, err := r.parse()
	if err != nil {
		return nil, err
	}
	out := &Result{
		Schema: Schema, Currency: "USD", Service: r.Service, Input: r.Input, Promises: q.promises, Search: searchNames[q.search],
		Traffic: q.traffic(), Tried: [][2]int64{}, Costs: []Cost{}, Growth: []Grown{}, Hours: []Hour{}, Notes: []string{},
	}
	if out.Choices, err = capcli.MapParallel(ctx, slices.Clone(r.Choices), nil, func(ctx context.Context, c Choice) (Size, error) {
		return q.size(ctx, c, &out.Traffic)
	}); err != nil {
		return nil, capcli.NameFile(err, r.Input)
	}
	if out.Best = cheapest(out.Choices); out.Best != nil {
		if err := q.study(ctx, out, &out.Choices[*out.Best]); err != nil {
			return nil, err
		}
	}
	out.Replays = q.replays.Load()
	out.Notes = q.notes(out)
	out.Says = out.sentence()
	return out, nil
}

func (q *plan) size(ctx context.Context, c Choice, t *Traffic) (Size, error) {
	s := Size{Choice: c, Tried: [][2]int64{}, Tries: []Try{}, Alone: []Kept{}, Why: c.Fault}
	if c.Fault != "" {
		return s, nil
	}
	z := q.sizer(ctx, &c.Config, q.Load)
	f, err := z.search(q.search)
	if err != nil {
		return s, err
	}
	s.fill(z, f, t)
	return s, nil
}

// cheapest returns the index of the size that costs least an hour; of equals the one with fewer GPUs, then
// the first. It is nil where none keeps the promises.
func cheapest(sizes []Size) *int {
	var best *int
	for i := range sizes {
		s := &sizes[i]
		if s.Replicas == nil {
			continue
		}
		if best != nil {
			b := &sizes[*best]
			if s.Cost.PerHour > b.Cost.PerHour || s.Cost.PerHour == b.Cost.PerHour && *s.GPUs >= *b.GPUs {
				continue
			}
		}
		best = &i
	}
	return best
}

// study works out what follows from the best size: costs, growth, hours and the break-even.
func (q *plan) study(ctx context.Context, out *Result, s *Size) error {
	out.Replicas, out.GPUs, out.Tried, out.Bound, out.Summary = s.Replicas, s.GPUs, s.Tried, s.Bound, s.summary
	terms, err := q.terms(s.Rate)
	if err != nil {
		return err
	}
	for _, t := range terms {
		out.Costs = append(out.Costs, costOf(t.Term, t.Rate, *s.GPUs, &out.Traffic))
	}
	z := q.sizer(ctx, &s.Config, q.Load)
	if out.Growth, err = q.grow(z, s, &out.Traffic); err != nil {
		return err
	}
	if len(q.growth) > 0 {
		if out.Headroom, err = q.headroom(z, s); err != nil {
			return err
		}
	}
	if q.Hourly {
		if out.Hours, err = q.hours(ctx, s); err != nil {
			return err
		}
		if out.Split, err = q.split(ctx, s, out.Hours); err != nil {
			return err
		}
	}
	least := slices.MinFunc(out.Costs, func(a, b Cost) int { return int(a.PerHour - b.PerHour) })
	out.BreakEven, err = q.breakEven(z, &least, s, &out.Traffic)
	return err
}

// notes returns what a reader needs beside the figures.
func (q *plan) notes(out *Result) []string {
	n := int64(len(q.Load))
	var notes []string
	for i := range out.Choices {
		if s := &out.Choices[i]; s.Fault != "" {
			notes = append(notes, s.Name()+" cannot run: "+s.Fault)
		}
	}
	for _, says := range []string{out.HeadroomSays(), out.SplitSays(), out.BreakEvenSays()} {
		if says != "" {
			notes = append(notes, says)
		}
	}
	for i := range q.promises {
		if text := q.promises[i].thin(n); text != "" {
			notes = append(notes, text)
		}
	}
	if out.Best != nil {
		s := &out.Choices[*out.Best]
		if s.Bound.Replicas == *s.Replicas {
			notes = append(notes, "no fewer replicas can keep the promises, whatever the router: "+s.Bound.Says)
		} else {
			notes = append(notes, s.Bound.Says+"; the search found no fewer")
		}
		if q.search == bisect {
			notes = append(notes, "--search bisect assumes that more replicas are never worse; --search exact tries every number")
		}
	}
	if q.Hourly && out.Best != nil {
		notes = append(notes, "each hour is sized by itself and begins with idle replicas; those of the hour before finish what is in flight")
	}
	if q.sketch != nil && q.Hourly && out.Split == nil && out.Best != nil {
		notes = append(notes, "nothing is divided into reserved and scaled: an hour has no size that keeps the promises")
	}
	if w := q.busiest(); w != nil {
		notes = append(notes, fmt.Sprintf("the size is for the busiest hour, from %s: %s of its %s requests were played, its busiest minutes; amounts per token and request are those of all %s requests of %s",
			(&Hour{Start: w.Start}).Name(), capcli.Grouped(int64(len(w.Load))), capcli.Grouped(w.Requests), capcli.Grouped(int64(out.Traffic.Requests)), capcli.Seconds(out.Traffic.Span)))
	}
	if out.Traffic.Rate <= 0 {
		notes = append(notes, "all requests arrive at once: there is no rate, so there are no amounts per token or request")
	} else if span := out.Traffic.Span; span < 3600 && q.Windows == nil {
		notes = append(notes, fmt.Sprintf("the requests cover %s: amounts a month and a year take this traffic as that of every hour", capcli.MicrosText(span*1e6)))
	}
	return append(notes, "promises count every request that came: a rejected one is later than any limit; all replicas are ready when the first request comes")
}

// sentence answers: what is dropped first, then the size, its cost, and what binds.
func (r *Result) sentence() string {
	if r.Best == nil {
		return "No size keeps the promises: " + r.NoPlan().Error() + "."
	}
	s := &r.Choices[*r.Best]
	text := ""
	if s.Rejected > 0 {
		text = fmt.Sprintf("Drops %s of %s requests (%.3g%%: longer than the service takes). ", capcli.Grouped(s.Rejected), capcli.Grouped(int64(r.Traffic.Requests)), 100*float64(s.Rejected)/float64(r.Traffic.Requests))
	}
	text += fmt.Sprintf("%s %s (%s %s", capcli.Grouped(int64(*s.Replicas)), capcli.Plural(int64(*s.Replicas), "replica"), capcli.Grouped(*s.GPUs), gpuWord(*s.GPUs))
	if s.GPUModel != "" || s.Weights != "" {
		text += ", " + s.Name()
	}
	text += ") " + capcli.Agree(*s.Replicas, "keeps", "keep") + " "
	for i := range r.Promises {
		if i > 0 {
			text += ", "
		}
		text += r.Promises[i].Text
	}
	if s.Rate > 0 {
		text += fmt.Sprintf(": %s a month %s", s.Cost.PerMonth, s.Cost.Term)
		if s.Cost.PerMillion != nil {
			text += fmt.Sprintf(", %s per million tokens", smallText(*s.Cost.PerMillion))
		}
	}
	if s.Binds != "" {
		text += fmt.Sprintf("; %s %s", capcli.Agree(*s.Replicas-1, "one replica breaks", "fewer break"), s.Binds)
	}
	return text + "."
}

// HeadroomSays returns the sentence on the headroom; "" where there is none.
func (r *Result) HeadroomSays() string {
	if r.Headroom == nil {
		return ""
	}
	return r.Headroom.Says
}

// SplitSays returns the sentence on what to reserve; "" where there is none.
func (r *Result) SplitSays() string {
	if r.Split == nil {
		return ""
	}
	return r.Split.Says
}

// BreakEvenSays returns the sentence on a price per token; "" where there is none.
func (r *Result) BreakEvenSays() string {
	if r.BreakEven == nil {
		return ""
	}
	return r.BreakEven.Says
}
