// Package panel makes the what-if section of a page: knobs, the figures that they change, and what
// answers them. In a file the engine answers, as WebAssembly in a worker; in a page of capcli serve
// the server does. Both give the figures of capcli simulate with --set, which the section shows.
package panel

import (
	"bytes"
	"context"
	_ "embed" // the parts of the section
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"capcli"
	"capcli/cmd/panel/engine"
	"capcli/cmd/panel/reply"
	"capcli/cmd/report/page"
	"capcli/scenarios/live"
	"capcli/scenarios/play"
	"capcli/scenarios/vary"
	"capcli/scenarios/whatif"
)

//go:embed panel.html
var htmlText string

//go:embed panel.css
var styleText string

//go:embed panel.js
var scriptText string

//go:embed worker.js
var workerText string

var panelTemplate = template.Must(template.New("panel").Parse(htmlText))

// InFile returns the section for a page that is a file: the engine answers in the browser. It fails
// with *capcli.RequestError if the program was built without the engine.
func InFile(ctx context.Context, w *live.World) (page.Extra, error) {
	files, err := engine.Load()
	if err != nil {
		return page.Extra{}, err
	}
	return inFile(ctx, w, files)
}

// OfFolder returns the section for a page that is a file, about a folder of runs. It fails as
// live.OpenFolder, live.NewWorld and InFile do.
func OfFolder(ctx context.Context, maker *play.Maker, folder *play.Folder) (page.Extra, error) {
	if _, err := engine.Load(); err != nil { // before anything is read
		return page.Extra{}, err
	}
	c, q, err := live.OpenFolder(ctx, maker, folder, play.Question{})
	if err != nil {
		return page.Extra{}, err
	}
	w, err := live.NewWorld(ctx, c, q, live.MaxJobs)
	if err != nil {
		return page.Extra{}, err
	}
	return InFile(ctx, w)
}

func inFile(ctx context.Context, w *live.World, files *engine.Files) (page.Extra, error) {
	e, err := w.Engine()
	if err != nil {
		return page.Extra{}, err
	}
	about := fmt.Sprintf("Change a number: the engine of capcli plays the %s jobs again, here in the page, and sends nothing.", capcli.Grouped(int64(w.Count)))
	x, err := section(ctx, e, about, w.Thinned)
	if err != nil {
		return page.Extra{}, err
	}
	return x, carry(&x, w, files)
}

// Served returns the section for a page of the server, which answers for the run called run.
func Served(ctx context.Context, e *live.Engine, run string) (page.Extra, error) {
	about := "Change a number: capcli serve plays the jobs of " + run + " again."
	x, err := section(ctx, e, about, nil)
	if err != nil {
		return page.Extra{}, err
	}
	name, err := json.Marshal(map[string]string{"run": run})
	if err != nil {
		return page.Extra{}, err
	}
	x.Connect = []string{"'self'"}
	x.Data = []page.Data{{ID: "live-server", Type: "application/json", Text: string(name)}}
	return x, nil
}

// view is what the template shows.
type view struct {
	About, Thinned, Ready, Command string
	Base, Busy, Done               string // what the figures without changes are called; what is said of an answer
	Delay                          int    // milliseconds from a change to its question
	Eager                          bool   // the engine starts with the page
	Limits                         []vary.Limit
	Notes                          []string
	Groups                         []group
	Heads                          []head
	Pictures                       []picture
}

type group struct {
	Title, Note string
	Knobs       []knob
}

// knob is a whatif.Knob with the id of its input.
type knob struct {
	ID, Path, Label, Value string
	Min, Max, Step         string
	Empty                  string // what no value means
	Choices                []string
}

type head struct {
	whatif.Headline
	Base string // the exact value; "" if it is unknown
}

type picture struct {
	ID, Title, Sentence string
	SVG                 template.HTML
	Legend              []reply.Entry
}

// section returns the section without what answers it.
func section(ctx context.Context, e *live.Engine, about string, thinned *live.Thinned) (page.Extra, error) {
	knobs, err := e.Knobs(ctx)
	if err != nil {
		return page.Extra{}, err
	}
	first, err := reply.Answer(ctx, e, whatif.Request{})
	if err != nil {
		return page.Extra{}, err
	}
	v := view{Base: "As it was run", Busy: "The engine plays the jobs … Take back stops it.", Done: "Played again in", Delay: 120, About: about, Ready: "These are the figures as it was run.", Command: first.Command, Groups: groupKnobs(knobs)}
	if thinned != nil {
		v.Thinned = "The page carries " + thinned.Note() + "."
		v.Ready = "These are the figures of the jobs of this page."
	}
	v.Heads = headsOf(first.Heads)
	for _, p := range first.Pictures {
		v.Pictures = append(v.Pictures, picture{p.ID, p.Title, p.Sentence, template.HTML(p.SVG), p.Legend})
	}
	return v.section()
}

// section returns the section of a view, without what answers it.
func (v *view) section() (page.Extra, error) {
	var b bytes.Buffer
	if err := panelTemplate.Execute(&b, v); err != nil {
		return page.Extra{}, fmt.Errorf("write the what-if section: %w", err)
	}
	return page.Extra{ID: "what-if", Title: "What if", HTML: template.HTML(b.String()), Style: styleText, Scripts: []string{scriptText}}, nil
}

// headsOf returns headlines with their exact values.
func headsOf(list []whatif.Headline) []head {
	var out []head
	for _, h := range list {
		x := head{Headline: h}
		if h.Value != nil {
			x.Base = strconv.FormatFloat(*h.Value, 'g', -1, 64)
		}
		out = append(out, x)
	}
	return out
}

// carry adds to a section what answers it in a file: the engine, and a world.
func carry(x *page.Extra, world any, files *engine.Files) error {
	text, err := json.Marshal(world)
	if err != nil {
		return err
	}
	x.WASM, x.Worker = true, true
	x.Data = []page.Data{
		{ID: "live-world", Type: "application/json", Text: string(text)},
		{ID: "live-engine", Type: "text/plain", Text: base64.StdEncoding.EncodeToString(files.WASM)},
		{ID: "live-worker", Type: "text/plain", Text: base64.StdEncoding.EncodeToString([]byte(files.Exec + "\n" + workerText))},
	}
	return nil
}

// groupKnobs returns the knobs by what they change: capacity, rules and prices.
func groupKnobs(knobs []whatif.Knob) []group {
	out := []group{{Title: "Capacity"}, {Title: "Rules"}, {Title: "Prices, $ for a GPU-hour"}}
	for i, k := range knobs {
		x := knobOf("live-"+strconv.Itoa(i), k)
		g := &out[0]
		switch {
		case k.Kind == whatif.Choice:
			g = &out[1]
		case strings.HasPrefix(k.Unit, "usd"):
			g = &out[2]
		}
		g.Knobs = append(g.Knobs, x)
	}
	for i := len(out) - 1; i >= 0; i-- {
		if len(out[i].Knobs) == 0 {
			out = append(out[:i], out[i+1:]...)
		}
	}
	return out
}

// knobOf returns a knob with the id of its input.
func knobOf(id string, k whatif.Knob) knob {
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return knob{id, k.Path, k.Label, k.Value, number(k.Min), number(k.Max), number(k.Step), "no limit", k.Choices}
}
