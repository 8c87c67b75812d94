package scenarios

import (
	"embed"
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
