// Package paper makes the paper of a planning meeting from saved results: the answer in one
// sentence, figures with a sentence each, assumptions, a glossary and the inputs. Every text is
// computed from the data beside it.
package paper

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/figure"
	"capcli/scenarios/play"
)

// Schema is the schema of the document of a Paper.
const Schema = "capcli/report/v1"

// Paper is all that a page, a file of Markdown or a workbook shows of a decision.
type Paper struct {
	Schema      string          `json:"schema"`
	Version     string          `json:"capcli"` // version of the program that made it
	Title       string          `json:"title"`
	Answer      Answer          `json:"answer"`
	Warnings    []string        `json:"warnings"` // what a reader must know beside the answer
	Figures     []figure.Figure `json:"figures"`
	Tables      []Table         `json:"tables"`
	Assumptions []Assumption    `json:"assumptions"`
	Glossary    []Term          `json:"glossary"`
	Inputs      []Input         `json:"inputs"`
	Seed        uint64          `json:"seed"`
	Command     string          `json:"command"` // makes the paper again
	Notes       []string        `json:"notes"`
	Board       *Board          `json:"board,omitempty"` // nil where there is no appendix
}

// Board is what a board reads on two printed pages: the answer, the first figures and the first tables.
// The rest is an appendix.
type Board struct {
	Figures int `json:"figures"`
	Tables  int `json:"tables"`
}

// Answer is what the paper says first.
type Answer struct {
	Sentence string     `json:"sentence"` // what to buy, cost a year, work served, waits, the risk
	Details  []string   `json:"details"`  // how good the answer is at most, and what it binds to
	Heads    []Headline `json:"headlines"`
}

// Headline is one large figure under the answer.
type Headline struct {
	Name  string        `json:"name"`
	Value figure.Number `json:"value"`
	Unit  figure.Unit   `json:"unit"`
	Text  string        `json:"text"`  // the value for people: "$1.70M"
	About string        `json:"about"` // over which time and jobs
}

// Table is a table of the paper beside those of its figures. A cell is a string, a
// figure.Number or nil.
type Table struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Sentence string   `json:"sentence,omitempty"`
	Columns  []Column `json:"columns"`
	Rows     [][]any  `json:"rows"`
	Total    bool     `json:"total"` // the last row is the sum of the others, in the columns with Sum
}

// Column is a column of a Table.
type Column struct {
	Name string      `json:"name"`
	Unit figure.Unit `json:"unit"`
	Sum  bool        `json:"sum"`
}

// Assumption is something that the figures rest on, with where it comes from.
type Assumption struct {
	Text   string `json:"text"`
	Source string `json:"source"` // "" is the scenario itself
	Date   string `json:"date"`   // YYYY-MM-DD; "" is not dated
}

// Term is an entry of the glossary.
type Term struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Input is a file that the paper was made from.
type Input struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	Of     string `json:"of,omitempty"` // the result that was made from it; "" is a result itself
}

// Drawing makes figures of one kind. Each has a file of its own, figure_NAME.go, that registers it.
type Drawing struct {
	ID    string // of its first figure; of others with a number behind it
	Rank  int    // place in the paper: low ones come first
	Needs string // what it is drawn from, for the note where that is missing
	// Only reports whether a paper has results of the kind at all; nil is always. Where it has none, no
	// note says that the figure is missing.
	Only func(m *material) bool
	// Draw returns the figures; none where the material does not have what it needs. why says what
	// was missing where that is not simply the whole of Needs.
	Draw func(m *material) (figures []figure.Figure, why string)
}

// boardRank is the rank from which on figures are in the appendix of a decision.
const boardRank = 10

var drawings []Drawing

func register(d Drawing) { drawings = append(drawings, d) }

// Drawings returns the catalogue in the order of a paper.
func Drawings() []Drawing {
	return slices.SortedFunc(slices.Values(drawings), func(a, b Drawing) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.ID, b.ID))
	})
}

// Check returns a *capcli.RequestError where there is nothing to make a paper of, or too much.
func (r *Request) Check() error {
	switch n := len(r.Files); {
	case n == 0:
		return &capcli.RequestError{Field: "results", Text: "wants saved results, found none", Hint: "capcli report runs/a plan.json --out meeting.html"}
	case n > maxFiles:
		return &capcli.RequestError{Field: "results", Text: fmt.Sprintf("wants at most %d saved results, found %d", maxFiles, n)}
	}
	seen := map[string]bool{}
	for i := range r.Files {
		if name := r.Files[i].Name; seen[name] {
			return &capcli.RequestError{Field: "results", Text: "wants each result once, found " + name + " twice"}
		}
		seen[r.Files[i].Name] = true
	}
	return nil
}

// Make makes the paper of a request. It fails with *capcli.InputError where a file is no result, and
// where results are in different currencies.
func Make(r *Request) (*Paper, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	m, err := newMaterial(r.Files)
	if err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	p := &Paper{
		Schema: Schema, Version: r.Version, Title: r.Title, Command: r.Command, Seed: m.seed(),
		Figures: []figure.Figure{}, Tables: []Table{}, Assumptions: m.assumptions(), Inputs: inputsOf(r.Files),
	}
	if p.Title == "" {
		p.Title = m.title()
	}
	p.Answer = m.answer()
	missing := []string{}
	for _, d := range Drawings() {
		if d.Only != nil && !d.Only(m) {
			continue
		}
		figures, why := d.Draw(m)
		for i := range figures {
			if err := figures[i].Check(); err != nil {
				return nil, fmt.Errorf("a picture of %s is wrong, which is a bug: %w", p.Title, err)
			}
		}
		p.Figures = append(p.Figures, figures...)
		switch {
		case why != "":
			missing = append(missing, fmt.Sprintf("%s: %s", d.ID, why))
		case len(figures) == 0:
			missing = append(missing, fmt.Sprintf("%s is left out: it needs %s", d.ID, d.Needs))
		}
	}
	if p.Tables = append(p.Tables, m.decisionTables()...); len(m.decisions) > 0 {
		p.Board = &Board{Figures: countOf(p.Figures, boardRank), Tables: len(p.Tables)}
	}
	for _, make := range []func() (Table, bool){m.plansTable, m.mixesTable, m.limitsTable, m.futuresTable, m.purchasesTable, m.contractsTable, m.tenantsTable, m.breakEvenTable, m.unservedTable} {
		if t, ok := make(); ok {
			p.Tables = append(p.Tables, t)
		}
	}
	p.Warnings, p.Notes = m.warnings(), append(m.remarks(), missing...)
	p.Glossary = glossary(p)
	return p, nil
}

// countOf returns the number of figures that drawings of a rank below most made. Figures are in the order
// of the ranks.
func countOf(figures []figure.Figure, most int) int {
	n := 0
	for _, d := range Drawings() {
		for n < len(figures) && d.Rank < most && strings.HasPrefix(figures[n].ID, d.ID) {
			n++
		}
	}
	return n
}

// title returns the title of a paper that has none: the scenario that it is about.
func (m *material) title() string {
	switch {
	case len(m.decisions) > 0:
		return "GPUs to reserve: " + m.decisions[0].Doc.GPU
	case len(m.mixes) > 0:
		return "GPUs to reserve: " + cmp.Or(m.mixes[0].Doc.Scenario, "plan")
	case len(m.services) > 0:
		return "GPUs to serve " + m.services[0].Doc.Service
	case len(m.futures)+len(m.curves)+len(m.joints) > 0:
		return "GPUs to reserve"
	case len(m.trials) > 0:
		return "GPU capacity: " + m.trials[0].Runs[0].Scenario
	case len(m.forecasts) > 0:
		return "GPU demand: " + strings.Join(m.forecasts[0].Doc.Input, ", ")
	}
	return "Simulated against recorded waits"
}

// seed returns the seed of the first result that has one.
func (m *material) seed() uint64 {
	switch {
	case len(m.decisions) > 0:
		return m.decisions[0].Doc.Seed
	case len(m.mixes) > 0:
		return m.mixes[0].Doc.Seed
	case len(m.trials) > 0:
		return m.trials[0].Runs[0].Seed
	case len(m.forecasts) > 0:
		return m.forecasts[0].Doc.Seed
	}
	return 0
}

// inputsOf lists the results with their checksums, and after each folder of runs what it was made
// from.
func inputsOf(files []File) []Input {
	out := []Input{}
	seen := map[Input]bool{}
	put := func(in Input) {
		if !seen[in] {
			seen[in] = true
			out = append(out, in)
		}
	}
	for i := range files {
		f := &files[i]
		put(Input{File: f.Name, SHA256: play.Checksum(f.Text)})
		if f.Inputs == nil {
			continue
		}
		put(Input{File: f.Inputs.Scenario.File, SHA256: f.Inputs.Scenario.SHA256, Of: f.Name})
		for _, in := range f.Inputs.Files {
			if in.File != f.Inputs.Scenario.File {
				put(Input{File: in.File, SHA256: in.SHA256, Of: f.Name})
			}
		}
	}
	return out
}
