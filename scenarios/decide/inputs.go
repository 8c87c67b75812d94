package decide

import (
	"context"
	"fmt"
	"strings"

	"capcli"
	"capcli/forecast/demand"
	"capcli/scenarios/inputs"
	"capcli/scenarios/money/prices"
)

// readInputs finds out what there is, and reads all but a job log that stands alone.
func (c *chain) readInputs(ctx context.Context) error {
	var err error
	c.given, err = inputs.Read(ctx, &inputs.Request{
		Names: append([]string{c.Trace}, c.More...), Read: c.Read, Joined: c.Joined, GPU: c.GPU, Prices: c.own.Override(prices.Catalogue()),
		Sources: demand.Sources{Open: c.w.Open, IsFolder: c.w.IsFolder, Folder: c.w.Folder, Progress: func(unit string) (at, end func(n int64)) { return c.w.progress(unit) }},
		Keep:    c.keepInput,
	})
	if err != nil {
		return err
	}
	for i := range c.given.List {
		in := &c.given.List[i]
		if in.SHA256 == "" {
			if in.SHA256, err = inputs.Hash(c.w.Open, in.File); err != nil {
				return err
			}
		}
	}
	c.out.Inputs = append(c.out.Inputs, c.given.List...)
	return nil
}

// keepInput keeps what an input takes long to give.
func (c *chain) keepInput(key string, make func() ([]byte, error)) ([]byte, error) {
	f, err := c.recall([]string{"input", key}, func() (*files, error) {
		b, err := make()
		return &files{Texts: map[string][]byte{"input": b}}, err
	})
	if err != nil {
		return nil, err
	}
	return f.Texts["input"], nil
}

// inputSum identifies what the inputs give.
func (c *chain) inputSum() string {
	if !c.given.IsPlain() {
		return c.given.Sum()
	}
	all := capcli.Map(c.given.List, func(in inputs.Input) []byte { return []byte(in.SHA256) })
	return hashOf(all...)
}

// importFlags are the arguments of import that read the inputs.
func (c *chain) importFlags() []string {
	words := append([]string{"import", "auto"}, c.given.Jobs...)
	if c.Read.Format != "" {
		words[1] = c.Read.Format
	}
	words = append(words, c.readFlags()...)
	if c.Joined != "" {
		words = append(words, "--read", "joined="+c.Joined)
	}
	return words
}

// takeLog says what was taken of a log that stands alone: jobs are all that want the GPU.
func (c *chain) takeLog(jobs []capcli.Job) {
	if !c.given.IsPlain() {
		return
	}
	c.out.Inputs[0].Take(jobs)
}

// missing says which inputs there are none of, and what each would change.
func (c *chain) missing() []string {
	from := "the catalogue's"
	if c.Prices != "" {
		from = "those of " + c.Prices
	}
	var out []string
	for _, m := range []struct {
		kind inputs.Kind
		text string
	}{
		{inputs.Log, "no job log: what was asked for and had to wait is not known, and the demand is what ran"},
		{inputs.Recording, "no recording: what the GPUs did is not known, and a job counts for all that it asked for (capcli profile)"},
		{inputs.Service, "no service: the load of a service counts only where its GPUs are among the jobs"},
		{inputs.Bill, "no bill: prices are " + from + ", and held is what --held says"},
		{inputs.Events, "no events: launches and holidays to come do not count (--events)"},
	} {
		has := c.given.Has(m.kind) || m.kind == inputs.Events && len(c.Events) > 0 || m.kind == inputs.Log && c.given.Has(inputs.Table)
		if !has {
			out = append(out, m.text)
		}
	}
	return out
}

// takeBill counts what a bill says is held, and says how its prices and its use agree with the others.
func (c *chain) takeBill() {
	b := c.given.Bill
	if b == nil {
		return
	}
	own := *c.Request
	for i := range b.Held {
		h := &b.Held[i]
		name := fmt.Sprintf("the bill's commitment %s (%g GPUs)", capcli.Quoted(h.ID), h.GPUs)
		if h.Rate > 0 {
			name = fmt.Sprintf("the bill's commitment %s (%s an hour, of which other use draws %s: at %s a GPU-hour the rest covers %g GPUs)", capcli.Quoted(h.ID), h.Dollars, h.Others, h.Rate, h.GPUs)
		}
		switch {
		case len(c.Held) > 0:
			c.out.Notes = append(c.out.Notes, name+" does not count beside --held, which says what is held")
		case h.Why != "":
			c.out.Warnings = append(c.out.Warnings, fmt.Sprintf("%s does not count as held: %s. Give it, with its end: --held GPUS@FROM..UNTIL", name, h.Why))
		case h.Until <= c.out.Start:
			c.out.Notes = append(c.out.Notes, fmt.Sprintf("%s ended on %s", name, h.Until.Date()))
		default:
			own.Held = append(own.Held, h.Text())
			c.out.Notes = append(c.out.Notes, fmt.Sprintf("%s counts as held: --held %s", name, h.Text()))
		}
	}
	c.Request = &own
	if text := c.paidText(b.Paid); text != "" {
		c.out.Notes = append(c.out.Notes, text)
	}
	if text := c.billedUse(b); text != "" {
		c.out.Notes = append(c.out.Notes, text)
	}
}

// paidText compares what was paid on demand with the price that the answer takes.
func (c *chain) paidText(paid capcli.Rate) string {
	list := c.offer.OnDemand.PerGPU()
	if paid <= 0 || list <= 0 {
		return ""
	}
	text := fmt.Sprintf("on demand the bill paid %s a GPU-hour, and the answer takes %s (%s)", paid, list, c.offer.OnDemand.Key())
	ratio := paid.Float() / list.Float()
	if ratio > 0.995 && ratio < 1.005 {
		return text
	}
	word := "less"
	if ratio > 1 {
		ratio, word = ratio-1, "more"
	} else {
		ratio = 1 - ratio
	}
	return text + fmt.Sprintf(": %.0f%% %s was paid. Where commitments are as much %s, the size stays and the cost moves alike; else give your prices: --prices", 100*ratio, word, map[string]string{"less": "cheaper", "more": "dearer"}[word])
}

// billedUse compares the use of a bill with the demand of the jobs, in the hours that both cover.
func (c *chain) billedUse(b *inputs.Billed) string {
	if !c.given.Has(inputs.Log) && !c.given.Has(inputs.Recording) {
		return ""
	}
	var billed, wanted float64
	hours := 0
	for i, v := range c.history.Values {
		at := c.history.Start + capcli.Time(i)*capcli.Time(c.history.Step)
		if use, ok := b.Use[at]; ok {
			billed, wanted, hours = billed+use.Hours(), wanted+v, hours+1
		}
	}
	if hours == 0 {
		return "the bill and the jobs have no hour in common: the bill's use cannot check them"
	}
	text := fmt.Sprintf("in the %s hours that both cover the bill has %s GPU-hours in use, and the jobs want %s", capcli.Grouped(int64(hours)), hoursText(billed), hoursText(wanted))
	switch {
	case wanted > 1.05*billed:
		return text + ": part of them ran on GPUs that are not on the bill, or waited"
	case wanted < 0.95*billed:
		return text + ": the rest was paid for without a job, or for work that the inputs do not have"
	}
	return text
}

// inputText names the inputs that give jobs, for messages.
func (c *chain) inputText() string {
	if len(c.given.Jobs) == 1 {
		return c.given.Jobs[0]
	}
	return strings.Join(c.given.Jobs, " + ")
}

// pastText names what is looked ahead from.
func (c *chain) pastText() string {
	if c.given.Has(inputs.Log) || !c.given.Has(inputs.Recording) {
		return "the log"
	}
	return "the recording"
}
