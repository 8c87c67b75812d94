package events

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"capcli"
	"capcli/forecast/roadmap"
	"capcli/profile/accelerator"
	"capcli/scenarios/money/prices"
)

// CostList is the document of what campaigns cost.
type CostList struct {
	Schema    string         `json:"schema"`
	Campaigns []CampaignCost `json:"campaigns"`
}

// CampaignCost is what one campaign costs, and the same on other models of GPU.
type CampaignCost struct {
	Name        string  `json:"campaign"`
	From        string  `json:"from"`
	GPUs        int     `json:"gpus"`
	Probability float64 `json:"probability"`
	roadmap.Cost
	Law    *Law        `json:"scaling_law,omitempty"` // nil for what is no run of a language model
	Models []ModelCost `json:"by_model,omitempty"`
}

// Law is what the scaling law of Hoffmann et al. 2022 says of a run. Parameters are those that are computed.
type Law struct {
	Parameters        float64 `json:"parameters"`
	Tokens            float64 `json:"tokens"`
	PerParameter      float64 `json:"tokens_per_parameter"`
	Loss              float64 `json:"loss"`
	OptimalParameters float64 `json:"compute_optimal_parameters"` // with as many operations
	OptimalTokens     float64 `json:"compute_optimal_tokens"`
	OptimalLoss       float64 `json:"compute_optimal_loss"`
}

// ModelCost is a campaign on as many GPUs of another model, at the same MFU.
type ModelCost struct {
	Model    string      `json:"gpu_model"`
	Peak     float64     `json:"peak_tflops,omitempty"`
	GPUHours float64     `json:"gpu_hours,omitempty"`
	Lo       float64     `json:"gpu_hours_lo,omitempty"`
	Hi       float64     `json:"gpu_hours_hi,omitempty"`
	Hours    float64     `json:"hours,omitempty"`
	Price    *capcli.USD `json:"usd_per_gpu_hour,omitempty"`
	Key      string      `json:"price_key,omitempty"`
	USD      *capcli.USD `json:"usd,omitempty"`
	USDLo    *capcli.USD `json:"usd_lo,omitempty"`
	USDHi    *capcli.USD `json:"usd_hi,omitempty"`
	Why      string      `json:"unknown_why,omitempty"` // why a figure is missing
}

// Costs returns what the campaigns of a plan cost, also on other models of GPU, at the cheapest on-demand
// price of each in list. It fails with *capcli.InputError if there is no campaign, and with
// *capcli.RequestError for an unknown model.
func Costs(plan *roadmap.Plan, models []string, list *prices.List) (*CostList, error) {
	var sheets []*accelerator.Model
	for _, name := range models {
		m, ok := accelerator.Find(name)
		if !ok {
			return nil, &capcli.RequestError{Field: "gpu", Text: fmt.Sprintf("names %s, whose peak is not known%s", capcli.Quoted(name), capcli.DidYouMean(name, accelerator.Names())), Hint: "a campaign may state peak_flops itself"}
		}
		sheets = append(sheets, m)
	}
	out := &CostList{Schema: "capcli/campaigns/v1"}
	for i := range plan.List {
		e := &plan.List[i]
		if e.Campaign == nil {
			continue
		}
		c := CampaignCost{Name: e.Name, From: e.Event.Start.Date(), GPUs: e.Campaign.GPUs, Probability: 1, Cost: e.Cost}
		if e.Event.Chance > 0 {
			c.Probability = e.Event.Chance
		}
		if e.Cost.FLOPs > 0 {
			if readsText(e.Campaign) {
				c.Law = lawOf(e.Campaign)
			}
			for _, m := range sheets {
				c.Models = append(c.Models, onModel(e.Campaign, m, list))
			}
		}
		out.Campaigns = append(out.Campaigns, c)
	}
	if len(out.Campaigns) == 0 {
		return nil, &capcli.InputError{File: plan.File, Field: "events", Text: "expected campaigns, found none", Hint: "capcli forecast events init has one"}
	}
	return out, nil
}

// Lead says what the campaign with the most GPU-hours takes and costs.
func (l *CostList) Lead() string {
	most := &l.Campaigns[0]
	for i := range l.Campaigns {
		if l.Campaigns[i].GPUHours > most.GPUHours {
			most = &l.Campaigns[i]
		}
	}
	text := fmt.Sprintf("campaign %s: %s GPU-hours (%s to %s) on %s GPUs for %s days", most.Name, ShortCount(most.GPUHours), ShortCount(most.Lo), ShortCount(most.Hi), capcli.Grouped(int64(most.GPUs)), capcli.BriefNumber(most.Hours/24))
	if t := most.Total; t != nil {
		text += fmt.Sprintf(", %s (%s to %s)", t.USD.Brief(), t.Lo.Brief(), t.Hi.Brief())
	}
	if n := len(l.Campaigns); n > 1 {
		text += fmt.Sprintf("; the most of %d campaigns", n)
	}
	return text + "."
}

// otherThanText are words of names of models that learn from something other than text.
var otherThanText = strings.Fields(`vit vits dit mmdit swin vision visual image images imagenet laion clip siglip openclip eva dino dinov
	resnet convnext unet detr yolo diffusion flux video videos sora audio speech voice music whisper wav hubert protein proteins esm
	alphafold molecule genome dna weather climate recsys recommender`)

// readsText reports whether a campaign trains on text, as far as its field tokens_of says, or else its name and the class
// and tenant of its jobs.
func readsText(c *roadmap.Campaign) bool {
	if c.TokensOf != "" {
		return c.TokensOf == "text"
	}
	words := strings.FieldsFunc(strings.ToLower(c.Name+" "+c.Work.Class+" "+c.Work.Tenant), func(r rune) bool { return !unicode.IsLetter(r) })
	return !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(otherThanText, w) })
}

// lawOf returns what the scaling law says of a campaign. The law was fitted to language models, by their tokens of text.
func lawOf(c *roadmap.Campaign) *Law {
	n := c.Parameters
	if c.Active > 0 {
		n = c.Active
	}
	l := &Law{Parameters: n, Tokens: c.Tokens, PerParameter: c.Tokens / n, Loss: roadmap.Loss(n, c.Tokens)}
	l.OptimalParameters, l.OptimalTokens = roadmap.ComputeOptimal(6 * n * c.Tokens)
	l.OptimalLoss = roadmap.Loss(l.OptimalParameters, l.OptimalTokens)
	return l
}

// onModel returns what a campaign takes on another model.
func onModel(c *roadmap.Campaign, m *accelerator.Model, list *prices.List) ModelCost {
	out := ModelCost{Model: m.Name, Peak: peakOf(m, c.Format) / 1e12}
	if c.Past != nil {
		out.Why = "the campaign rests on a past run, which says nothing of other GPUs"
		return out
	}
	if out.Peak == 0 {
		out.Why = "no units for " + orBF16(c.Format)
		return out
	}
	other := *c
	other.PeakFLOPS, other.GPUModel, other.Prices = out.Peak*1e12, m.Name, roadmap.Prices{}
	if _, key, ok := list.KeysForModel(m.Name); ok {
		if q, err := list.Find(key); err == nil {
			price := q.PerGPU()
			out.Price, out.Key, other.Prices.GPU = &price, key, &price
		}
	} else {
		out.Why = "no on-demand price of it is known"
	}
	cost, err := other.Cost()
	if err != nil {
		out.Why = plainText(err)
		return out
	}
	out.GPUHours, out.Lo, out.Hi, out.Hours = cost.GPUHours, cost.Lo, cost.Hi, cost.Hours
	if t := cost.Total; t != nil {
		out.USD, out.USDLo, out.USDHi = &t.USD, &t.Lo, &t.Hi
	}
	return out
}

// ShortCount returns a large number for people: 70B, 15.6T, 3.8e+25.
func ShortCount(v float64) string {
	for _, u := range []struct {
		unit string
		size float64
	}{{"T", 1e12}, {"B", 1e9}, {"M", 1e6}} {
		if v >= u.size && v < 1e15 {
			return fmt.Sprintf("%.3g", v/u.size) + u.unit
		}
	}
	if v >= 1e15 || math.IsNaN(v) {
		return fmt.Sprintf("%.3g", v)
	}
	return capcli.BriefNumber(v)
}
