package decide

import (
	"fmt"
	"strings"

	"capcli"
	"capcli/scenarios/kinds"
)

// sentences says the answer of the tiers: what mending is worth first, then what to order, what it costs beside other
// ways, and what it risks. It reads the fields of t alone.
func (t *Tiers) sentences() []string {
	out := t.Kinds.VerdictSentences(t.Scale)
	if !t.Holds {
		out = append(out, "No tiers that were tried hold the limits; these are the nearest.")
	}
	out = append(out, t.orderSentence(), t.shareSentence(), t.againstSentence())
	for _, text := range []string{t.riskSentence(), t.lossSentence()} {
		if text != "" {
			out = append(out, text)
		}
	}
	out = append(out, t.waitSentence())
	out = append(out, t.Kinds.Sentence())
	if text := t.untoldSentence(); text != "" {
		out = append(out, text)
	}
	return out
}

// Tier returns the row of a tier; nil where the plan has none.
func (t *Tiers) Tier(name string) *Tier {
	for i := range t.Tiers {
		if t.Tiers[i].Tier == name {
			return &t.Tiers[i]
		}
	}
	return nil
}

func (t *Tiers) orderSentence() string {
	var parts []string
	for i := range t.Tiers {
		x := &t.Tiers[i]
		switch x.Tier {
		case tierHeld:
			parts = append(parts, fmt.Sprintf("use the %s that are held (%s on average)", gpusText(x.First), kinds.GPUsText(x.Mean)))
		case tierBase:
			parts = append(parts, fmt.Sprintf("reserve %s %s as a base for %s at %s a GPU-hour", gpusText(x.First), t.GPU, x.Term, x.Rate))
		case tierBill:
			parts = append(parts, fmt.Sprintf("commit to %s as a bill (%s) at %s", gpusText(x.First), x.Term, x.Rate))
		case tierFlexible:
			parts = append(parts, fmt.Sprintf("keep %s on demand on average at %s", kinds.GPUsText(x.Mean), x.Rate))
		case tierSpot:
			parts = append(parts, fmt.Sprintf("run %s on spot on average (%s at most) at %s", kinds.GPUsText(x.Mean), gpusText(x.First), x.Rate))
		}
	}
	text := strings.Join(parts, ", ")
	return fmt.Sprintf("From %s %s: %s over %s, %s for each useful GPU-hour.", t.Start.Date(), text, t.Cost.Brief(), lengthText(t.Length), t.PerUseful)
}

func (t *Tiers) shareSentence() string {
	var parts []string
	for i := range t.Tiers {
		x := &t.Tiers[i]
		parts = append(parts, fmt.Sprintf("%s %s at %s", x.Tier, kinds.PercentText(x.Share), x.PerUseful))
	}
	return "Of the useful GPU-hours: " + strings.Join(parts, ", ") + "."
}

func (t *Tiers) againstSentence() string {
	var parts []string
	for _, x := range t.Totals[1:] {
		word, by := "more", x.Difference
		if by < 0 {
			word, by = "less", -by
		}
		name := x.Name
		if name == atPeak {
			name += " (" + gpusText(x.GPUs) + " GPUs)"
		}
		parts = append(parts, fmt.Sprintf("%s costs %s %s", name, by.Brief(), word))
	}
	text := strings.Join(parts, ", ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func (t *Tiers) riskSentence() string {
	x := t.Tier(tierSpot)
	if x == nil {
		return ""
	}
	share := 0.0
	if x.Held > 0 {
		share = x.Redone / x.Held
	}
	return fmt.Sprintf("On spot jobs lose their GPUs %s times and do %s GPU-hours again, %s of what they hold there.", capcli.Grouped(int64(x.Restarts+0.5)), hoursText(x.Redone), kinds.PercentText(share))
}

func (t *Tiers) waitSentence() string {
	var may, most capcli.Seconds
	p95 := 0.0
	for i := range t.ByKind {
		k := &t.ByKind[i]
		if k.Class == string(kinds.Waits) {
			p95, may = k.WaitP95, k.WaitMax
		} else {
			most = max(most, k.WaitMax)
		}
	}
	text := "Nobody waits for GPUs"
	if may > 0 {
		text = fmt.Sprintf("Jobs that may wait do so for %s at p95 and %s at most", waitText(p95), waitText(float64(may)))
		if most == 0 {
			text += ", and no other job waits"
		}
	}
	if most > 0 {
		text = fmt.Sprintf("%s; other jobs wait %s at most", text, waitText(float64(most)))
	}
	if t.Unserved > 0 {
		text += fmt.Sprintf("; %s GPU-hours are not served", hoursText(t.Unserved))
	}
	return text + "."
}
