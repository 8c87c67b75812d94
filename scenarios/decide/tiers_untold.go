package decide

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/kinds"
)

// UntoldCase is about what the tiers would be under an assumption on the jobs that cannot be told. It is of the hourly use
// of all futures, without jobs: one level of commitments at the lowest price that fits the question, spot for its share of
// each hour and of what is done again, and the rest on demand.
type UntoldCase struct {
	If         string     `json:"if"`
	Share      float64    `json:"spot_share"` // of the demand
	GPUs       int        `json:"committed_gpus"`
	OnDemand   float64    `json:"on_demand_mean_gpus"`
	Spot       float64    `json:"spot_mean_gpus"` // with what is done again
	Cost       capcli.USD `json:"cost_usd"`
	Difference capcli.USD `json:"difference_usd"` // from the first case, in which nothing more is known
}

// manyUntold is the share of the GPU time that cannot be told from which on the answer says what it would be under assumptions.
const manyUntold = 0.2

func (t *Tiers) addUntold(s *tierSearch) error {
	if t.Kinds.Row(kinds.Unknown).Share < manyUntold || !s.hasSpot() {
		return nil
	}
	x, err := scenarios.ParseWith(s.own, TiersYAML, s.docs[TiersYAML])
	if err != nil {
		return err
	}
	at := slices.IndexFunc(x.Capacity, func(c scenarios.Capacity) bool { return c.Name == tierSpot })
	if at < 0 {
		return nil
	}
	needed, u := 1-t.Kinds.Row(kinds.Unneeded).Share, &t.Kinds.Untold
	told := t.Kinds.SpotShare()
	for _, c := range []struct {
		text          string
		share, redone float64
	}{
		{"none of it can be restarted", 0, 0},
		{fmt.Sprintf("what would do at most %s again is started anew when it is lost", kinds.PercentText(s.rules.Redone)), u.Restart, u.RestartRedone},
		{fmt.Sprintf("it saves its work each %s", s.rules.Checkpoint.Every), u.Saved, u.SavedRedone},
	} {
		out := s.level((told + c.share) / max(needed, 1e-9))
		out.If, out.Spot = c.text, out.Spot+out.Spot*c.redone*c.share/max(told+c.share, 1e-9)
		out.Cost += capcli.USDOf(out.Spot * t.Length.Hours() * x.Capacity[at].Price.Rate.Float())
		if len(t.Untold) > 0 {
			out.Difference = out.Cost - t.Untold[0].Cost
		}
		t.Untold = append(t.Untold, out)
	}
	return nil
}

// level returns the best level of commitments for the demand of all futures beyond what is held, where a share of each
// hour is on spot, without the cost of that share. The cost is convex in the level.
func (s *tierSearch) level(share float64) UntoldCase {
	f, q := &s.set.Futures, s.reservedPrice()
	var over []float64 // of all hours of all futures
	out := UntoldCase{Share: share}
	for _, path := range f.Paths {
		for i, v := range path {
			at := f.Grid.At(i)
			rest := v * (1 - share)
			for _, h := range s.bought.Held {
				if h.Start.Time <= at && at < h.End.Time {
					rest -= h.GPUs
				}
			}
			out.Spot += v * share
			over = append(over, max(0, rest))
		}
	}
	slices.Sort(over)
	n := float64(len(over))
	out.Spot /= n
	above := make([]float64, len(over)+1) // sums of the largest
	for i := len(over) - 1; i >= 0; i-- {
		above[i] = above[i+1] + over[i]
	}
	cost := func(gpus int) (capcli.USD, float64) {
		i := sort.SearchFloat64s(over, float64(gpus))
		mean := (above[i] - float64(gpus)*float64(len(over)-i)) / n
		return capcli.USDOf(s.out.Length.Hours() * (float64(gpus)*q.PerGPU().Float() + mean*s.offer.OnDemand.PerGPU().Float())), mean
	}
	lots := sort.Search(int(over[len(over)-1])/s.lot()+1, func(k int) bool {
		here, _ := cost(k * s.lot())
		next, _ := cost((k + 1) * s.lot())
		return next >= here
	})
	out.GPUs = lots * s.lot()
	out.Cost, out.OnDemand = cost(out.GPUs)
	return out
}

// untoldSentence says what the tiers would be under assumptions on what cannot be told; "" where little is.
func (t *Tiers) untoldSentence() string {
	var parts []string
	for i := range t.Untold {
		x := &t.Untold[i]
		text := fmt.Sprintf("if %s, commit to %d, keep %s on demand and %s on spot", x.If, x.GPUs, kinds.GPUsText(x.OnDemand), kinds.GPUsText(x.Spot))
		if i > 0 {
			word, by := "more", x.Difference
			if by < 0 {
				word, by = "less", -by
			}
			text += fmt.Sprintf(" (%s of the demand, %s %s)", kinds.PercentText(x.Share), by.Brief(), word)
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("What cannot be told decides, roughly by the hour: %s. Lines of the file of kinds say which holds.", strings.Join(parts, "; "))
}
