package scenarios

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"capcli"
)

// The library. Each file starts with a comment on what it shows.
//
//go:embed *.yaml
var library embed.FS

// Names returns the names of the scenarios of the library, in order.
func Names() []string {
	entries, err := library.ReadDir(".")
	if err != nil {
		panic(err) // the files are embedded
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	slices.Sort(names) // the files are in order with their ending: board-decision-delay.yaml comes before board-decision.yaml
	return names
}

// Listing is the document capcli/scenarios/v1: the scenarios of the library.
type Listing struct {
	Schema    string   `json:"schema"`
	Scenarios []Listed `json:"scenarios"`
}

// Listed is a scenario of the library.
type Listed struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// List returns the scenarios of the library with their descriptions.
func List() (*Listing, error) {
	out := &Listing{Schema: "capcli/scenarios/v1"}
	for _, name := range Names() {
		b, _ := Library(name)
		s, err := Parse(name+".yaml", b)
		if err != nil {
			return nil, fmt.Errorf("library scenario %s: %w", name, err)
		}
		out.Scenarios = append(out.Scenarios, Listed{name, s.Description})
	}
	return out, nil
}

// Library returns the text of a scenario of the library.
func Library(name string) ([]byte, bool) {
	b, err := library.ReadFile(name + ".yaml")
	return b, err == nil
}

// UnknownError returns the error of a name that is not in the library: a
// *capcli.UnknownError that lists the names, or the nearest one.
func UnknownError(name string) error {
	c := capcli.Catalog[struct{}]{Kind: "scenario"}
	for _, n := range Names() {
		c.Add(n, "", struct{}{})
	}
	_, err := c.Get(name)
	return err
}
