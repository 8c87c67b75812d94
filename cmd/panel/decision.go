package panel

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"capcli"
	"capcli/cmd/panel/engine"
	"capcli/cmd/report/page"
	"capcli/profile/logs/trace"
	"capcli/scenarios/decide"
	"capcli/scenarios/vary"
	"capcli/scenarios/whatif"
)

// OfDecision returns the section for a page that is a file, about the decision in the file name. It fails as
// decide.OpenWorld and engine.Load do.
func OfDecision(ctx context.Context, open trace.Opener, name string) (page.Extra, error) {
	files, err := engine.Load()
	if err != nil {
		return page.Extra{}, err
	}
	w, err := decide.OpenWorld(ctx, open, name)
	if err != nil {
		return page.Extra{}, err
	}
	return ofWorld(w, files)
}

func ofWorld(w *vary.World, files *engine.Files) (page.Extra, error) {
	e, err := w.Engine()
	if err != nil {
		return page.Extra{}, err
	}
	first, err := e.Answer(whatif.Request{})
	if err != nil {
		return page.Extra{}, err
	}
	later, err := e.AddCheapest(whatif.Request{})
	if err != nil {
		return page.Extra{}, err
	}
	v := view{
		About: fmt.Sprintf("Change a number: the %s futures of the decision are paid again hour by hour, here in the page, and nothing is sent. Alt+Backspace takes a change back.", capcli.Grouped(int64(w.Count))),
		Ready: "These are the figures of the decision.", Base: "As decided", Busy: "The futures are paid …", Done: "Paid again in", Delay: 20, Eager: true,
		Heads: headsOf(append(first.Heads, later.Heads...)), Limits: first.Limits, Notes: first.Notes,
	}
	n := 0
	for _, g := range e.Groups() {
		x := group{Title: g.Title, Note: g.Note}
		for _, k := range g.Knobs {
			y := knobOf("live-"+strconv.Itoa(n), k)
			y.Empty = "no limit"
			if !strings.HasPrefix(k.Path, "limit.") {
				y.Empty = "no price"
			}
			x.Knobs = append(x.Knobs, y)
			n++
		}
		v.Groups = append(v.Groups, x)
	}
	x, err := v.section()
	if err != nil {
		return x, err
	}
	return x, carry(&x, w, files)
}
