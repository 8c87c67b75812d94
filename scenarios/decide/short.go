package decide

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/inputs"
)

// fewestDays is the shortest recording that is answered for: a day beside the one that ends it.
const fewestDays = 2

// Short says what an answer stands on that has less than 14 days.
type Short struct {
	Days float64 `json:"days"`
	// Least and Most are the GPUs that the price of the first purchase would pay for, had each day stood alone: the
	// lowest of the days and the highest. They are equal where no commitment is on offer.
	Least  float64  `json:"least_gpus"`
	Most   float64  `json:"most_gpus"`
	Unseen []string `json:"unseen"` // what so few days cannot say
}

// checkDays returns an error where what there is covers too few days to look ahead from. Logs need two weeks; what
// was recorded is answered from two days on, with the range that this leaves. span is the time between the first
// submission and the last.
func (c *chain) checkDays(span int64) error {
	days, least := span/int64(capcli.Day), int64(leastDays)
	if !c.gone.IsWhole() {
		least = leastPart
	}
	if days >= least {
		return nil
	}
	if c.given.Has(inputs.Recording) || c.given.Has(inputs.Service) {
		covers := max(span, int64(c.given.Lasts))
		if covers >= fewestDays*int64(capcli.Day) {
			c.out.Short = &Short{Days: float64(covers*10/int64(capcli.Day)) / 10}
			return nil
		}
		return &capcli.InputError{
			File: c.inputText(), Text: fmt.Sprintf("expected a recording of at least %d days to say anything of the days to come, found %s: one day does not say how the next differs", fewestDays, capcli.Seconds(covers)),
			Hint: "record on: a week shows the weekend, two weeks what changes from one to the next; capcli profile summary says what was done",
		}
	}
	return &capcli.InputError{
		File: c.inputText(), Text: fmt.Sprintf("expected jobs over at least %d days to look ahead from, found %d", least, days),
		Hint: "give a longer log; capcli plan mix --trace plans for the jobs as they are",
	}
}

// measureShort says how far the days differ, where the answer stands on few.
func (c *chain) measureShort() {
	s := c.out.Short
	if s == nil {
		return
	}
	rate, ratio := c.offer.OnDemand.PerGPU(), 1.0
	if terms := c.desk.frame.Market.Terms; len(terms) > 0 && rate > 0 {
		ratio = min(1, terms[c.desk.firstTerm()].Rate.At(0).Float()/rate.Float())
	}
	var levels []float64
	h := c.history
	for i := 0; i+24 <= len(h.Values); i++ {
		if (h.Start+capcli.Time(i)*capcli.Time(h.Step))%capcli.Time(capcli.Day) != 0 {
			continue
		}
		day := slices.Clone(h.Values[i : i+24])
		slices.Sort(day)
		levels = append(levels, day[23-min(23, int(ratio*24))])
	}
	if len(levels) == 0 {
		levels = []float64{slices.Min(h.Values), slices.Max(h.Values)}
	}
	s.Least, s.Most = slices.Min(levels), slices.Max(levels)
	s.Unseen = []string{"growth, and what changes from month to month"}
	switch {
	case s.Days < 6:
		s.Unseen = append([]string{"how a weekend differs from a weekday, and one week from the next"}, s.Unseen...)
	case s.Days < 14:
		s.Unseen = append([]string{"how one week differs from the next"}, s.Unseen...)
	}
}

// shortText says first what an answer of few days stands on, and how wide it is.
func (c *chain) shortText() string {
	s := c.out.Short
	if s == nil {
		return ""
	}
	wide := fmt.Sprintf("by its single days the level that pays is %.0f to %.0f GPUs", s.Least, s.Most)
	if p := c.out.Plan; p != nil {
		wide += fmt.Sprintf(", and the cost of futures like these days is %s to %s", p.Range[0].Brief(), p.Range[1].Brief())
	}
	return fmt.Sprintf("This stands on %s alone: %s. It cannot say %s. ", inputs.DaysText(s.Days), wide, strings.Join(s.Unseen, "; nor "))
}
