package page

import (
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"capcli/cmd/report/draw"
	"capcli/cmd/report/paper"
	"capcli/scenarios/figure"
)

// Rows of a table that a page shows, and of those the rows that it prints.
const (
	defaultRows = 200
	printedRows = 24
)

// view is what the template shows.
type view struct {
	*paper.Paper
	Policy   string
	Styles   []template.HTML
	Scripts  []template.HTML
	Blocks   []template.HTML
	Sections []section
	Pictures []picture
	Tables   []tableView
	Said     answer
	Entries  int  // of the contents
	Connects bool // an Extra asks a server
}

// answer is the sentence of the answer in parts: what a reader must know before it, its first clause,
// and the rest.
type answer struct{ Warning, Lead, Rest string }

// maxLead is how long an answer may be to be large as a whole.
const maxLead = 200

// splitAnswer parts the sentence of an answer. A warning begins with words in capitals and a colon, and
// ends with its sentence.
func splitAnswer(text string) (a answer) {
	head, _, found := strings.Cut(text, ": ")
	if found && strings.ToUpper(head) == head && strings.Trim(head, "ABCDEFGHIJKLMNOPQRSTUVWXYZ ") == "" {
		if i := strings.Index(text, ". "); i >= 0 {
			a.Warning, text = text[:i+2], text[i+2:]
		}
	}
	a.Lead = text
	if i := strings.Index(text, "; "); i >= 0 && len(text) > maxLead {
		a.Lead, a.Rest = text[:i+2], text[i+2:]
	}
	return a
}

// section is an Extra as the template shows it.
type section struct {
	ID, Title string
	HTML      template.HTML
}

// picture is a figure as the template shows it.
type picture struct {
	figure.Figure
	SVG    template.HTML
	Legend []draw.Entry
	Notes  []string
	Plot   string // where values lie, as JSON
	Data   tableView
}

// tableView is a table as the template shows it.
type tableView struct {
	ID, Title, Sentence string
	Heads               []cell
	Rows                []row
	Foot                []cell // the total; nil where there is none
	Left                string // what is left out; "" is nothing
	Unprinted           int    // rows that are shown but not printed
}

type row struct {
	Cells []cell
	More  bool // not printed
}

// cell is a cell of a table: Number says that it holds a figure.
type cell struct {
	Text   string
	Number bool
}

// maxText is how many characters of a text the page shows.
const maxText = 1500

// cleanText returns text as it may stand on the page.
func cleanText(text string) string { return figure.Brief(text, maxText) }

func newView(p *paper.Paper, o Options) (*view, error) {
	if o.Rows <= 0 {
		o.Rows = defaultRows
	}
	v := &view{Paper: p, Said: splitAnswer(p.Answer.Sentence)}
	if err := v.addParts(p, o.Extras); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i := range p.Figures {
		f := &p.Figures[i]
		if err := f.Check(); err != nil {
			return nil, err
		}
		if seen[f.ID] {
			return nil, fmt.Errorf("two figures have the ID %s", f.ID)
		}
		seen[f.ID] = true
		one, err := newPicture(f, o.Rows)
		if err != nil {
			return nil, err
		}
		v.Pictures = append(v.Pictures, one)
	}
	for i := range p.Tables {
		t := &p.Tables[i]
		if !isID(t.ID) || seen["table-"+t.ID] {
			return nil, fmt.Errorf("table %.40q: its ID must be its own, of small letters, digits and dashes", t.ID)
		}
		seen["table-"+t.ID] = true
		v.Tables = append(v.Tables, paperTable(t, o.Rows))
	}
	v.Entries = len(v.Sections) + len(v.Pictures) + len(v.Tables) + 1
	if len(p.Assumptions) > 0 {
		v.Entries++
	}
	if len(p.Glossary) > 0 {
		v.Entries++
	}
	return v, nil
}

// EndsBoard reports whether what a board reads ends before picture i: the tables of the board and the
// heading of the appendix stand there.
func (v *view) EndsBoard(i int) bool {
	return v.Board != nil && i == min(v.Board.Figures, len(v.Pictures))
}

// BoardTables returns the tables that a board reads.
func (v *view) BoardTables() []tableView {
	if v.Board == nil {
		return nil
	}
	return v.Tables[:min(v.Board.Tables, len(v.Tables))]
}

// RestTables returns the other tables.
func (v *view) RestTables() []tableView { return v.Tables[len(v.BoardTables()):] }

// addParts adds the styles, scripts and blocks of the page and of its extras, and the policy that
// allows them.
func (v *view) addParts(p *paper.Paper, extras []Extra) error {
	styles, scripts := []string{pageStyle()}, []string{scriptText}
	document, err := documentBlock(p)
	if err != nil {
		return err
	}
	blocks := []Data{document}
	for _, e := range extras {
		if !isID(e.ID) {
			return fmt.Errorf("section %.40q: its ID must consist of small letters, digits and dashes", e.ID)
		}
		if e.Style != "" {
			styles = append(styles, e.Style)
		}
		v.Connects = v.Connects || len(e.Connect) > 0
		scripts = append(scripts, e.Scripts...)
		blocks = append(blocks, e.Data...)
		v.Sections = append(v.Sections, section{e.ID, e.Title, e.HTML})
	}
	var styleSources, scriptSources []string
	for _, s := range styles {
		v.Styles = append(v.Styles, template.HTML("<style>"+s+"</style>"))
		styleSources = append(styleSources, hashSource(s))
	}
	for _, s := range scripts {
		markup, source, err := script(s)
		if err != nil {
			return err
		}
		v.Scripts = append(v.Scripts, markup)
		scriptSources = append(scriptSources, source)
	}
	for _, d := range blocks {
		markup, err := block(d)
		if err != nil {
			return err
		}
		v.Blocks = append(v.Blocks, markup)
	}
	v.Policy = policy(styleSources, scriptSources, extras)
	return nil
}

func pageStyle() string { return styleText + draw.CSS() }

func newPicture(f *figure.Figure, rows int) (picture, error) {
	d, err := draw.Inline(f, draw.Options{})
	if err != nil {
		return picture{}, err
	}
	plot, err := json.Marshal(d.Plot)
	if err != nil {
		return picture{}, fmt.Errorf("figure %s: %w", f.ID, err)
	}
	one := picture{Figure: *f, SVG: template.HTML(d.SVG), Legend: d.Legend, Notes: append(slices.Clone(f.Notes), d.Notes...), Plot: string(plot)}
	t := f.Table()
	one.Data = tableView{ID: "data-" + f.ID, Title: f.Title}
	for _, c := range t.Columns {
		one.Data.Heads = append(one.Data.Heads, cell{c.Name, c.Unit != figure.Name})
	}
	units := make([]figure.Unit, len(t.Columns))
	for i, c := range t.Columns {
		units[i] = c.Unit
	}
	one.Data.addRows(t.Rows, units, rows)
	return one, nil
}

// paperTable returns a table of the paper. A total stays apart from the rows, below them.
func paperTable(t *paper.Table, rows int) tableView {
	v := tableView{ID: "table-" + t.ID, Title: t.Title, Sentence: t.Sentence}
	units := make([]figure.Unit, len(t.Columns))
	for i, c := range t.Columns {
		units[i] = c.Unit
		v.Heads = append(v.Heads, cell{c.Name, c.Unit != figure.Name})
	}
	body := t.Rows
	if t.Total && len(body) > 0 {
		v.Foot = cells(body[len(body)-1], units)
		body = body[:len(body)-1]
	}
	v.addRows(body, units, rows)
	return v
}

// addRows adds the first rows of a table, and says how many are left out.
func (v *tableView) addRows(rows [][]any, units []figure.Unit, most int) {
	if len(rows) > most {
		v.Left = fmt.Sprintf("The first %d of %s rows. All are in the document inside this page.",
			most, figure.Count.Text(figure.Number(len(rows))))
		rows = rows[:most]
	}
	for i, r := range rows {
		v.Rows = append(v.Rows, row{cells(r, units), i >= printedRows})
	}
	v.Unprinted = max(0, len(v.Rows)-printedRows)
}

// cells returns the texts of a row: "n/a" where a value is unknown, "" where there is none.
func cells(values []any, units []figure.Unit) []cell {
	out := make([]cell, len(values))
	for i, value := range values {
		u := figure.Count
		if i < len(units) {
			u = units[i]
		}
		switch value := value.(type) {
		case nil:
			out[i].Number = u != figure.Name
		case string:
			out[i].Text = value
		case figure.Number:
			out[i] = cell{u.Cell(value), true}
		case float64:
			out[i] = cell{u.Cell(figure.Number(value)), true}
		case int:
			out[i] = cell{u.Cell(figure.Number(value)), true}
		case int64:
			out[i] = cell{u.Cell(figure.Number(value)), true}
		case bool:
			out[i].Text = strconv.FormatBool(value)
		default:
			out[i].Text = fmt.Sprint(value)
		}
	}
	return out
}
