package scenarios

import (
	_ "embed" // the template is a file
)

//go:embed template.yaml.txt
var templateText string

// Template is a scenario to begin with: it can be run as it is, and says every
// field that there is, most of them behind a #.
func Template() string { return templateText }
