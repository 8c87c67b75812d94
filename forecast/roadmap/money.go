package roadmap

import (
	"cmp"
	"fmt"
	"math"

	"capcli"
	"capcli/forecast/model"
)

// Prices are what a campaign pays for. A zero part costs nothing, and has no term.
type Prices struct {
	GPU         *capcli.USD // of a GPU-hour
	Data        *Data
	Checkpoints *Checkpoints
	Energy      *Energy
	People      *People
}

// Data is the text that a run reads: it is tokenised once, stored while the campaign lasts, and moved.
type Data struct {
	TB            float64    // size in 10^12 bytes; 0 is the tokens times BytesPerToken
	BytesPerToken float64    // 0: 4, about what English text takes
	TokenisePerTB capcli.USD // for preparing a TB
	StoragePerGB  capcli.USD // a month
	Copies        int        // stored; 0: 1
	EgressPerGB   capcli.USD
	Transfers     int // number of times that it is moved; 0: 1
}

// Checkpoints are states of the run that are stored.
type Checkpoints struct {
	// BytesPerParameter of one checkpoint. 0 is 14: 2 of weights in half precision, and 12 of Adam in
	// single precision, which are weights, momentum and variance (Rajbhandari et al. 2020, "ZeRO").
	BytesPerParameter float64
	Every             capcli.Seconds // of the run
	Keep              int            // the newest so many are kept; 0 is all
	StoragePerGB      capcli.USD     // a month
}

// Energy is power that is paid for, as of owned GPUs.
type Energy struct {
	Watts  float64 // of a GPU that computes
	PUE    float64 // of the data centre; 0: 1
	PerKWh capcli.USD
}

// People work on the campaign while it lasts, and before.
type People struct {
	Count    float64
	PerMonth capcli.USD     // of one
	Before   capcli.Seconds // work before the start
}

// Term is the dollars for one thing, with their range.
type Term struct {
	Name string     `json:"term"`
	USD  capcli.USD `json:"usd"`
	Lo   capcli.USD `json:"usd_lo"`
	Hi   capcli.USD `json:"usd_hi"`
}

const (
	monthSeconds  = 730 * 3600 // 8760 hours / 12
	bytesPerToken = 4
	adamBytes     = 14
	mostDollars   = 1e12
)

// price adds the terms of money to a cost. GPU time is priced as it is held: the number of GPUs times the
// length in whole seconds.
func (c *Campaign) price(out *Cost) error {
	p := &c.Prices
	lo, hi := out.Lo/out.GPUHours, out.Hi/out.GPUHours
	length := float64(out.Length)
	add := func(name string, dollars func(seconds float64) float64) {
		t := Term{name, capcli.USDOf(clampDollars(dollars(length))), capcli.USDOf(clampDollars(dollars(length * lo))), capcli.USDOf(clampDollars(dollars(length * hi)))}
		out.Terms = append(out.Terms, t)
	}
	if p.GPU != nil {
		add("GPUs", func(s float64) float64 { return p.GPU.Float() * float64(c.GPUs) * s / 3600 })
		if t := float64(c.GPUs) * length * 1000; t < 1<<62 {
			out.Terms[0].USD = capcli.Cost(*p.GPU, capcli.GPUTime(int64(c.GPUs)*int64(out.Length)*1000))
		}
	}
	if d := p.Data; d != nil {
		gb := c.dataGB()
		if d.TokenisePerTB > 0 {
			add("tokenisation", func(float64) float64 { return gb / 1000 * d.TokenisePerTB.Float() })
		}
		if d.StoragePerGB > 0 {
			add("storage of data", func(s float64) float64 {
				return gb * float64(max(1, d.Copies)) * d.StoragePerGB.Float() * s / monthSeconds
			})
		}
		if d.EgressPerGB > 0 {
			add("egress", func(float64) float64 { return gb * float64(max(1, d.Transfers)) * d.EgressPerGB.Float() })
		}
	}
	if k := p.Checkpoints; k != nil {
		add("checkpoints", func(s float64) float64 {
			return c.checkpointGB() * k.storedSeconds(s) / monthSeconds * k.StoragePerGB.Float()
		})
	}
	if e := p.Energy; e != nil {
		add("energy", func(s float64) float64 {
			return e.Watts / 1000 * math.Max(1, e.PUE) * float64(c.GPUs) * s / 3600 * e.PerKWh.Float()
		})
	}
	if w := p.People; w != nil {
		add("people", func(s float64) float64 { return w.Count * w.PerMonth.Float() * (s + float64(w.Before)) / monthSeconds })
	}
	return out.total(c.Name)
}

// clampDollars returns v, or an amount that total refuses.
func clampDollars(v float64) float64 {
	if !(v >= 0 && v <= mostDollars) {
		return 2 * mostDollars
	}
	return v
}

// total adds up the terms. It fails if one of them is beyond a trillion dollars.
func (c *Cost) total(name string) error {
	if len(c.Terms) == 0 {
		return nil
	}
	sum := Term{Name: "total"}
	for _, t := range c.Terms {
		if max(t.USD, t.Lo, t.Hi) > mostDollars*capcli.Dollar {
			return fmt.Errorf("campaign %q: %s cost over a trillion dollars: %w", name, t.Name, model.ErrUnfit)
		}
		sum.USD, sum.Lo, sum.Hi = sum.USD+t.USD, sum.Lo+t.Lo, sum.Hi+t.Hi
	}
	c.Total = &sum
	return nil
}

// dataGB returns the size of the data in 10^9 bytes.
func (c *Campaign) dataGB() float64 {
	if d := c.Prices.Data; d.TB > 0 {
		return d.TB * 1000
	}
	per := cmp.Or(c.Prices.Data.BytesPerToken, bytesPerToken)
	return c.Tokens * per / 1e9
}

// checkpointGB returns the size of one checkpoint in 10^9 bytes.
func (c *Campaign) checkpointGB() float64 {
	per := cmp.Or(c.Prices.Checkpoints.BytesPerParameter, adamBytes)
	return c.Parameters * per / 1e9
}

// storedSeconds returns for how long checkpoints are stored in a run of s seconds, all of them added up. The
// i-th is made after i times Every, and is stored until the end or until Keep newer ones are there.
func (k *Checkpoints) storedSeconds(s float64) float64 {
	every := math.Max(1, float64(k.Every))
	n := math.Floor(s / every)
	keep := float64(k.Keep)
	if k.Keep == 0 {
		keep = n + 1
	}
	replaced := math.Max(0, math.Floor(s/every-keep)) // those that are stored for keep times every
	rest := n - replaced
	return replaced*keep*every + rest*s - every*(n*(n+1)-replaced*(replaced+1))/2
}
