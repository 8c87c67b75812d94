package serve

import (
	"encoding/json"
	"reflect"

	"capcli/cmd/schema"
	"capcli/scenarios/live"
)

// object is a JSON object; encoding/json writes a map in the order of its keys.
type object map[string]any

// openAPI returns the description of the API: OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.0), whose
// schemas are JSON Schema.
func (s *Server) openAPI() ([]byte, error) {
	m := schema.NewMaker("#/components/schemas/")
	paths := object{}
	failed := object{"description": "The error: what is wrong, and what to do.", "content": content(m.Describe(reflect.TypeFor[live.Failure]()))}
	for _, o := range operations {
		if o.hidden {
			continue
		}
		answers := object{"200": object{"description": "The result.", "content": content(m.Describe(o.result))}, "default": failed}
		one := object{"operationId": o.name, "summary": o.about, "responses": answers}
		if o.request != nil {
			m.Closed = true // a request with an unknown member is refused
			one["requestBody"] = object{"required": true, "content": content(m.Describe(o.request))}
			m.Closed = false
			for code, text := range map[string]string{
				"400": "The request is wrong.", "413": "The body is too large.", "415": "The body is not application/json.",
				"422": "The inputs do not allow an answer.", "429": "The queue is full: try again after Retry-After seconds.", "504": "The request took too long.",
			} {
				answers[code] = object{"description": text, "content": failed["content"]}
			}
		}
		answers["401"] = object{"description": "The token is missing or wrong.", "content": failed["content"]}
		method := "get"
		if o.request != nil {
			method = "post"
		}
		paths[o.path] = object{method: one}
	}
	if err := m.Fault(); err != nil {
		return nil, err
	}
	return json.Marshal(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "capcli serve", "version": s.o.Version, "license": object{"name": "Apache 2.0", "identifier": "Apache-2.0"},
			"description": "Requests and results are the documents of capcli: those of -o json.",
		},
		"servers":    []any{object{"url": "/"}},
		"security":   []any{object{"token": []string{}}, object{"cookie": []string{}}},
		"paths":      paths,
		"components": object{"schemas": m.Defs, "securitySchemes": securitySchemes()},
	})
}

func securitySchemes() object {
	return object{
		"token":  object{"type": "http", "scheme": "bearer"},
		"cookie": object{"type": "apiKey", "in": "cookie", "name": "capcli-PORT"},
	}
}

func content(schema any) object { return object{"application/json": object{"schema": schema}} }
