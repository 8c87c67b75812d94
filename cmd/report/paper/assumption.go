package paper

import (
	"fmt"
	"strings"

	"capcli/scenarios/money/prices"
)

// assumptions lists what the figures rest on, each once, with its source and its date where they
// are known.
func (m *material) assumptions() []Assumption {
	out := []Assumption{}
	seen := map[string]bool{}
	put := func(a Assumption) {
		if a.Text != "" && !seen[a.Text] {
			seen[a.Text] = true
			out = append(out, a)
		}
	}
	priced := func(list []prices.Assumption) {
		for i := range list {
			put(Assumption{Text: list[i].Text, Source: list[i].Source, Date: list[i].Date})
		}
	}
	plain := func(list []string, source string) {
		for _, text := range list {
			put(Assumption{Text: text, Source: source})
		}
	}
	for i := range m.trials {
		for k := range m.trials[i].Runs {
			priced(m.trials[i].Runs[k].Assumptions)
		}
	}
	for _, x := range m.decisions {
		for _, q := range x.Doc.Prices {
			put(Assumption{Text: fmt.Sprintf("%s costs %s a GPU-hour", q.Key, q.Rate), Source: q.Source, Date: q.Date.Date()})
		}
	}
	for _, x := range m.curves {
		priced(x.Doc.Assumptions)
	}
	for _, x := range m.mixes {
		plain(x.Doc.Assumption, "")
	}
	for _, x := range m.futures {
		plain(x.Doc.Assumptions, "")
	}
	for i := range m.trials {
		if in := m.trials[i].file.Inputs; in != nil {
			plain(in.Scenario.Made, in.Scenario.File)
		}
	}
	return out
}

// terms are the words of a paper, with their meaning.
var terms = []Term{
	{"a year", "an amount times 365.25 days over the time that it is for; for comparison, not a forecast"},
	{"committed", "owned or reserved: paid whether somebody holds it or not"},
	{"on-demand", "paid while it is held, at the provider's list price"},
	{"spot", "cheap capacity that the provider can take back"},
	{"lower bound", "a cost that no plan of the question can be below; it is proven, not estimated"},
	{"gap", "how far the plan is above the lower bound, at most"},
	{"wait", "first start less submission; for a job that never starts, at least the time until the end"},
	{"p95", "95 of 100 jobs are at or below it (nearest rank)"},
	{"95th percentile", "95 of 100 jobs are at or below it (nearest rank)"},
	{"stranded", "committed GPU time that nobody held: idle, blocked and down together"},
	{"idle", "free while no job waited that could have used it"},
	{"blocked", "free while a job waited that could not start there"},
	{"down", "failed or draining"},
	{"demand (unconstrained)", "GPUs that would be in use if no job ever waited"},
	{"served", "work done by the end of the run, of the work that could have been done by then"},
	{"frontier", "the mixes that no other mix beats in both cost and wait"},
	{"limits hold", "share of the runs, or futures, in which every limit holds"},
	{"future", "one possible course of demand"},
	{"regret", "cost of the plan in a future less the least cost there"},
	{"worst 5%", "the mean over the worst futures (CVaR 95)"},
	{"recorded", "as the job log says that it was"},
	{"patience", "how long a job waits for committed GPUs before it goes on-demand"},
	{"effective savings", "1 - cost / what all use would have cost on demand"},
}

// glossary returns the terms that a paper uses.
func glossary(p *Paper) []Term {
	var all strings.Builder
	all.WriteString(p.Answer.Sentence)
	for _, h := range p.Answer.Heads {
		all.WriteString(" " + h.Name)
	}
	for i := range p.Figures {
		f := &p.Figures[i]
		all.WriteString(" " + f.Title + " " + f.Sentence + " " + f.Y.Label + " " + strings.Join(f.Notes, " "))
		for k := range f.Series {
			all.WriteString(" " + f.Series[k].Name)
		}
		for _, m := range f.Marks {
			all.WriteString(" " + m.Label)
		}
	}
	for i := range p.Tables {
		all.WriteString(" " + p.Tables[i].Title)
		for _, c := range p.Tables[i].Columns {
			all.WriteString(" " + c.Name)
		}
	}
	text := strings.ToLower(all.String())
	out := []Term{}
	for _, t := range terms {
		if strings.Contains(text, t.Name) {
			out = append(out, t)
		}
	}
	return out
}
