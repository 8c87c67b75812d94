package outcome

import (
	"slices"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
)

// Places is where jobs ran, what data moved for them, and what they were kept out of.
type Places struct {
	Places []PlaceUse        `json:"places"`
	Kept   []simulate.Barred `json:"kept_out"` // pools that residency or latency kept jobs out of
	Moves  []DataMove        `json:"moves"`
	Time   capcli.Seconds    `json:"transfer_s"` // for which jobs held GPUs and waited for data
	Cost   *capcli.USD       `json:"moved_usd"`  // of moved and stored data, part of the cost; nil if a pool has no price
}

// PlaceUse is one region.
type PlaceUse struct {
	Place     string         `json:"place"`
	Jobs      int64          `json:"finished_jobs"`
	Used      capcli.GPUTime `json:"used_gpu_hours"` // of jobs that finished
	Transfers int64          `json:"transfers"`
	In        float64        `json:"moved_in_gib"`
	Out       float64        `json:"moved_back_gib"`
	Time      capcli.Seconds `json:"transfer_s"`
	Found     int64          `json:"copies_found"`
	Dropped   int64          `json:"copies_dropped"`
}

// DataMove is the data that moved from one region to another.
type DataMove struct {
	From  string      `json:"from"`
	To    string      `json:"to"`
	GiB   float64     `json:"gib"`
	Count int64       `json:"transfers"`
	Cost  *capcli.USD `json:"moved_usd"` // of the transfers, without storage
}

// PlacesOf returns the figures of a run; nil if no pool has a place. rates are those of its pools, and moved is
// what moved and stored data cost, nil if it is not known.
func PlacesOf(res *simulate.Result, rates []billing.Rate, moved *capcli.USD) *Places {
	if res.Places == nil {
		return nil
	}
	out := &Places{Places: []PlaceUse{}, Kept: append([]simulate.Barred{}, res.Places.Barred...), Moves: []DataMove{}, Cost: moved}
	for _, t := range res.Places.Places {
		out.Places = append(out.Places, PlaceUse{
			Place: t.Place, Jobs: t.Jobs, Used: t.Used, Transfers: t.Transfers, In: gib(t.In), Out: gib(t.Out), Time: t.Time, Found: t.Found, Dropped: t.Dropped,
		})
		out.Time += t.Time
	}
	for i := range res.Record.Moves {
		m := &res.Record.Moves[i]
		k := slices.IndexFunc(out.Moves, func(x DataMove) bool { return x.From == m.From && x.To == m.To })
		if k < 0 {
			k = len(out.Moves)
			out.Moves = append(out.Moves, DataMove{From: m.From, To: m.To})
			if moved != nil {
				out.Moves[k].Cost = new(capcli.USD)
			}
		}
		x := &out.Moves[k]
		x.GiB += gib(m.MiB)
		x.Count += m.Count
		if cost, err := rates[m.Pool].Transfers.CostOf(m.From, m.To, m.MiB); x.Cost != nil && err == nil {
			*x.Cost += cost
		}
	}
	return out
}

func gib(mib int64) float64 { return float64(mib) / 1024 }

// Shift is what one rule of shifting did. The amounts are of the jobs of the rule that finished: by carbon in
// kilograms, else in dollars.
type Shift struct {
	Rule   string `json:"rule"`
	By     string `json:"by"`
	Policy string `json:"policy"`
	Jobs   int64  `json:"finished_jobs"`

	AtOnce *billing.Carbon `json:"at_once_co2e_kg,omitempty"` // had each begun when it was submitted
	Chosen *billing.Carbon `json:"chosen_co2e_kg,omitempty"`  // had each run when it was to
	Least  *billing.Carbon `json:"least_co2e_kg,omitempty"`   // no schedule within the slack emits less
	Done   *billing.Carbon `json:"co2e_kg,omitempty"`         // as they ran

	AtOnceUSD *capcli.USD `json:"at_once_usd,omitempty"`
	ChosenUSD *capcli.USD `json:"chosen_usd,omitempty"`
	LeastUSD  *capcli.USD `json:"least_usd,omitempty"`
	DoneUSD   *capcli.USD `json:"usd,omitempty"`

	Saved *float64 `json:"saved_share"`       // 1 - done / at once; nil if nothing would have been emitted or paid
	Bound *float64 `json:"saved_share_bound"` // 1 - least / at once
}

// Delays is by how much starts were put off.
type Delays struct {
	simulate.Delays
	Mean  *float64 `json:"put_off_mean_s"` // over the jobs that were put off; nil if none was
	Rules []Shift  `json:"rules"`
}

// DelaysOf returns the figures of a run; nil if no start can be put off.
func DelaysOf(res *simulate.Result, rules []Shift) *Delays {
	if res.Delays == nil {
		return nil
	}
	out := &Delays{Delays: *res.Delays, Rules: rules}
	if d := res.Delays; d.Jobs > 0 {
		mean := float64(d.Time) / float64(d.Jobs)
		out.Mean = &mean
	}
	return out
}

// SetAmounts sets the amounts of a rule, in milligrams or in millionths of a dollar.
func (s *Shift) SetAmounts(atOnce, chosen, least, done int64) {
	if s.By == "carbon" {
		a, c, l, d := billing.Carbon(atOnce), billing.Carbon(chosen), billing.Carbon(least), billing.Carbon(done)
		s.AtOnce, s.Chosen, s.Least, s.Done = &a, &c, &l, &d
	} else {
		a, c, l, d := capcli.USD(atOnce), capcli.USD(chosen), capcli.USD(least), capcli.USD(done)
		s.AtOnceUSD, s.ChosenUSD, s.LeastUSD, s.DoneUSD = &a, &c, &l, &d
	}
	if atOnce > 0 {
		saved, bound := 1-float64(done)/float64(atOnce), 1-float64(least)/float64(atOnce)
		s.Saved, s.Bound = &saved, &bound
	}
}
