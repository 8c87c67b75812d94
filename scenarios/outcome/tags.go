package outcome

import (
	"capcli"
)

// TagBill is the jobs and the costs of a run by the values of one tag. The costs of the values add up
// to the cost of the run, to the millionth of a dollar.
type TagBill struct {
	Tag    string     `json:"tag"`
	Values []TagValue `json:"values"` // highest cost first, then most GPU-hours, then by value
}

// TagValue is the jobs with one value of a tag and what they cost.
type TagValue struct {
	Value       string         `json:"value"` // "" is the jobs that lack the tag
	Jobs        int64          `json:"jobs"`
	Finished    int64          `json:"finished"`
	Preemptions int64          `json:"preemptions"`
	Used        capcli.GPUTime `json:"used_gpu_hours"`
	Redone      capcli.GPUTime `json:"redone_gpu_hours"` // part of Used that was lost work, checkpoints or restarts
	Waits
	JCTMean     float64               `json:"jct_mean_s"`
	ServedShare float64               `json:"served_share"` // share of the possible work that was done
	Direct      *capcli.USD           `json:"direct_usd"`   // for what the jobs held
	Share       *capcli.USD           `json:"stranded_share_usd"`
	Cost        *capcli.USD           `json:"cost_usd"` // Direct + Share; nil if a pool has no price
	ByTier      map[string]capcli.USD `json:"by_tier,omitempty"`
}

// Label returns the value for people: (none) for the jobs that lack the tag.
func (v *TagValue) Label() string {
	if v.Value == "" {
		return capcli.NoTag
	}
	return v.Value
}

// FindTag returns the bill of a tag; nil if no job of the run has it.
func (o *Outcome) FindTag(name string) *TagBill {
	for i := range o.Tags {
		if o.Tags[i].Tag == name {
			return &o.Tags[i]
		}
	}
	return nil
}

// tagParts adds the cost of each value of a tag to out. A run without the tag costs all for (none).
func (o *Outcome) tagParts(out map[string]capcli.USD, name string) {
	b := o.FindTag(name)
	if b == nil {
		if o.Cost.Total != nil {
			out[capcli.NoTag] += *o.Cost.Total
		}
		return
	}
	for i := range b.Values {
		if v := &b.Values[i]; v.Cost != nil {
			out[v.Label()] += *v.Cost
		}
	}
}
