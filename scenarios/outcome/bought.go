package outcome

import (
	"fmt"

	"capcli"
	"capcli/simulate"
)

// Bought is what became of a pool of bought nodes.
type Bought struct {
	Pool        string         `json:"pool"`
	Terms       string         `json:"terms"`
	Ordered     int64          `json:"nodes_ordered"`
	Warm        int64          `json:"nodes_warm"` // there from the start
	Came        int64          `json:"nodes_came"`
	Lost        int64          `json:"nodes_lost"`
	Most        int            `json:"nodes_max"`
	NodeHours   float64        `json:"node_hours"` // billed
	Billed      capcli.GPUTime `json:"billed_gpu_hours"`
	Used        capcli.GPUTime `json:"used_gpu_hours"`
	Utilisation *float64       `json:"utilisation"` // used over billed; nil where nothing was billed
	LeadMean    *float64       `json:"lead_mean_s"` // nil without orders
	Refused     int64          `json:"nodes_refused"`
	Tries       int64          `json:"orders_refused"`
	Emptied     int64          `json:"nodes_consolidated"`
	Moved       int64          `json:"jobs_moved"`
	LeadWait    float64        `json:"wait_for_lead_job_hours"`
	ShortWait   float64        `json:"wait_for_shortage_job_hours"`
}

// BoughtOf returns the figures of the pools of bought nodes of a run; nil if there are none.
func BoughtOf(res *simulate.Result) (out []Bought) {
	for i := range res.Bought {
		b := &res.Bought[i]
		pool := &res.Record.Pools[b.Pool]
		x := Bought{
			Pool: pool.Name, Terms: pool.Terms.String(), Ordered: b.Ordered, Warm: b.Warm, Came: b.Came, Lost: b.Lost, Most: b.Most,
			NodeHours: b.Billed.Hours(), Billed: b.Span.Offered, Used: b.Span.Used, Refused: b.Refused, Tries: b.Tries,
			Emptied: b.Emptied, Moved: b.Moved, LeadWait: b.LeadWait.Hours(), ShortWait: b.ShortWait.Hours(),
		}
		if b.Span.Offered > 0 {
			share := float64(b.Span.Used) / float64(b.Span.Offered)
			x.Utilisation = &share
		}
		if b.Ordered > 0 {
			mean := float64(b.Lead) / float64(b.Ordered)
			x.LeadMean = &mean
		}
		out = append(out, x)
	}
	return out
}

// sumBought returns the sum of a figure over the pools of bought nodes; nil if there are none.
func sumBought(of func(*Bought) float64) func(*Outcome) *float64 {
	return func(o *Outcome) *float64 {
		if len(o.Bought) == 0 {
			return nil
		}
		sum := 0.0
		for i := range o.Bought {
			sum += of(&o.Bought[i])
		}
		return &sum
	}
}

// boughtUtilisation returns the share of the bought GPU time that was held; nil where none was bought.
func boughtUtilisation(o *Outcome) *float64 {
	var used, all capcli.GPUTime
	for i := range o.Bought {
		used += o.Bought[i].Used
		all += o.Bought[i].Billed
	}
	if all == 0 {
		return nil
	}
	share := float64(used) / float64(all)
	return &share
}

// BoughtNotes tells what a reader must know of the nodes of a run that could not be had.
func (o *Outcome) BoughtNotes() (out []string) {
	for i := range o.Bought {
		b := &o.Bought[i]
		if b.Tries > 0 {
			out = append(out, fmt.Sprintf("* %s: %s %s of %s %s could not be had; jobs waited %.1f job-hours for that",
				b.Pool, capcli.Grouped(b.Tries), capcli.Plural(b.Tries, "order"), capcli.Grouped(b.Refused), capcli.Plural(b.Refused, "node"), b.ShortWait))
		}
	}
	return out
}
