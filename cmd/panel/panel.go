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
	world, err := json.Marshal(w)
	if err != nil {
		return page.Extra{}, err
	}
	x.WASM, x.Worker = true, true
	x.Data = []page.Data{
		{ID: "live-world", Type: "application/json", Text: string(world)},
		{ID: "live-engine", Type: "text/plain", Text: base64.StdEncoding.EncodeToString(files.WASM)},
		{ID: "live-worker", Type: "text/plain", Text: base64.StdEncoding.EncodeToString([]byte(files.Exec + "\n" + workerText))},
	}
	return x, nil
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
	Groups                         []group
	Heads                          []head
	Pictures                       []picture
}

type group struct {
	Title string
	Knobs []knob
}

// knob is a whatif.Knob with the id of its input.
type knob struct {
	ID, Path, Label, Value string
	Min, Max, Step         string
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
	v := view{About: about, Ready: "These are the figures as it was run.", Command: first.Command, Groups: groupKnobs(knobs)}
	if thinned != nil {
		v.Thinned = "The page carries " + thinned.Note() + "."
		v.Ready = "These are the figures of the jobs of this page."
	}
	for _, h := range first.Heads {
		x := head{Headline: h}
		if h.Value != nil {
			x.Base = strconv.FormatFloat(*h.Value, 'g', -1, 64)
		}
		v.Heads = append(v.Heads, x)
	}
	for _, p := range first.Pictures {
		v.Pictures = append(v.Pictures, picture{p.ID, p.Title, p.Sentence, template.HTML(p.SVG), p.Legend})
	}
	var b bytes.Buffer
	if err := panelTemplate.Execute(&b, &v); err != nil {
		return page.Extra{}, fmt.Errorf("write the what-if section: %w", err)
	}
	return page.Extra{ID: "what-if", Title: "What if", HTML: template.HTML(b.String()), Style: styleText, Scripts: []string{scriptText}}, nil
}

// groupKnobs returns the knobs by what they change: capacity, rules and prices.
func groupKnobs(knobs []whatif.Knob) []group {
	out := []group{{Title: "Capacity"}, {Title: "Rules"}, {Title: "Prices, $ for a GPU-hour"}}
	for i, k := range knobs {
		number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
		x := knob{"live-" + strconv.Itoa(i), k.Path, k.Label, k.Value, number(k.Min), number(k.Max), number(k.Step), k.Choices}
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
