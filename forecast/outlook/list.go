package outlook

import "capcli/forecast"

// ModelList is the document capcli/forecast_models/v1: the models that Request.Model chooses from.
type ModelList struct {
	Schema string        `json:"schema"`
	Models []ListedModel `json:"models"`
}

// ListedModel is a model of the catalogue.
type ListedModel struct {
	Name string `json:"name"`
	Doc  string `json:"doc"` // what it does
}

// ListModels returns the models, by name.
func ListModels() *ModelList {
	out := &ModelList{Schema: "capcli/forecast_models/v1", Models: []ListedModel{}}
	for _, m := range forecast.Models.All() {
		out.Models = append(out.Models, ListedModel{m.Name, m.Doc})
	}
	return out
}

// EventList is the document capcli/forecast_events/v1: the planned events of a file.
type EventList struct {
	Schema string  `json:"schema"`
	Events []Event `json:"events"`
}
