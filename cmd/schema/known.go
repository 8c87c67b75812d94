package schema

import (
	"encoding/json"
	"reflect"
	"time"

	"capcli"
	"capcli/forecast/demand"
	"capcli/forecast/outlook"
	"capcli/profile/store"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/focus"
)

const (
	moneyPattern = `^-?[0-9]+\.[0-9]{2,}$`
	// stampPattern is an instant of RFC 3339 in UTC, as the program writes it.
	stampPattern = `^[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z$`
)

// known has the schema of each type that writes its own JSON. TestKnown holds values of each against it.
var known map[reflect.Type]func(*Maker) *Schema

func init() { // not a declaration, because the functions below ask known in turn
	known = map[reflect.Type]func(*Maker) *Schema{
		reflect.TypeFor[capcli.USD]():      money,
		reflect.TypeFor[focus.Amount]():    money,
		reflect.TypeFor[capcli.Time]():     instant,
		reflect.TypeFor[market.Instant]():  instantOrPeriod,
		reflect.TypeFor[capcli.GPUTime]():  func(*Maker) *Schema { return &Schema{Type: Types{"number"}, Comment: "GPU-hours"} },
		reflect.TypeFor[capcli.Seconds]():  func(*Maker) *Schema { return &Schema{Type: Types{"integer"}, Comment: "seconds"} },
		reflect.TypeFor[capcli.Figure]():   figureOrNull,
		reflect.TypeFor[billing.MilliWh](): func(*Maker) *Schema { return &Schema{Type: Types{"number"}, Comment: "kilowatt-hours"} },
		reflect.TypeFor[billing.Carbon]():  func(*Maker) *Schema { return &Schema{Type: Types{"number"}, Comment: "kilograms of CO2 equivalent"} },
		reflect.TypeFor[demand.Level]():    func(*Maker) *Schema { return &Schema{Type: Types{"number", "string", "null"}} },
		reflect.TypeFor[json.RawMessage](): func(*Maker) *Schema { return &Schema{} },
		reflect.TypeFor[json.Number]():     func(*Maker) *Schema { return ofType("number") },
		reflect.TypeFor[time.Time]():       func(*Maker) *Schema { return &Schema{Type: Types{"string"}, Format: "date-time"} },
		reflect.TypeFor[outlook.Period]():  spreadOfPeriod,
		reflect.TypeFor[store.Track]():     track,
	}
}

func money(*Maker) *Schema {
	return &Schema{Type: Types{"string"}, Pattern: moneyPattern, Comment: "an exact decimal amount"}
}

func instant(*Maker) *Schema {
	return &Schema{Type: Types{"string", "null"}, Pattern: stampPattern, Comment: "RFC 3339 in UTC; null where unknown"}
}

func instantOrPeriod(*Maker) *Schema {
	return &Schema{Type: Types{"string", "number", "null"}, Pattern: stampPattern, Comment: "RFC 3339 in UTC, or the number of a period"}
}

func figureOrNull(*Maker) *Schema {
	return &Schema{Type: Types{"number", "null"}, Comment: "null where unknown"}
}

// spreadOfPeriod describes the figures of a period and their ranges: lo-80 and hi-80 for each level.
func spreadOfPeriod(m *Maker) *Schema {
	figures := func() *Schema {
		s := &Schema{
			Type: Types{"object"}, Required: []string{"mean", "lines"},
			Properties:        Properties{{"mean", figureOrNull(m)}, {"lines", &Schema{Type: Types{"object"}, Additional: figureOrNull(m)}}},
			PatternProperties: Properties{{`^(lo|hi)-[0-9]+(\.[0-9]+)?$`, figureOrNull(m)}},
		}
		if m.Closed {
			s.Additional = Nothing()
		}
		return s
	}
	s := figures()
	s.Description = comment(reflect.TypeFor[outlook.Period](), "")
	text := ofType("string")
	s.Required = append(s.Required, "horizon", "from", "to", "of")
	s.Properties = append(s.Properties, Property{"horizon", text}, Property{"from", text}, Property{"to", text},
		Property{"of", &Schema{Enum: []any{"mean", "sum"}}}, Property{"peak", figures()})
	return s
}

// track describes the samples of one GPU: a mean and a maximum of each metric.
func track(m *Maker) *Schema {
	s := m.object(reflect.TypeFor[store.TrackDocument]())
	for i := range s.Properties {
		if s.Properties[i].Name != "samples" {
			continue
		}
		row := &Schema{
			Type: Types{"object"}, Required: []string{"from", "samples"},
			Properties:        Properties{{"from", ofType("string")}, {"samples", ofType("integer")}},
			PatternProperties: Properties{{`_(mean|max)$`, figureOrNull(m)}},
		}
		if m.Closed {
			row.Additional = Nothing()
		}
		s.Properties[i].Schema = &Schema{Type: Types{"array"}, Items: row}
	}
	return s
}
