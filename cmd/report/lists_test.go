package report

import (
	"encoding/json"
	"testing"
)

type listOfTest struct {
	A    []int                   `json:"a"`
	Omit []int                   `json:"omit,omitempty"`
	Null []int                   `json:"null" schema:"nullable"`
	Sub  *listOfTest             `json:"sub,omitempty"`
	Map  map[string][]int        `json:"map,omitempty"`
	Kids []listOfTest            `json:"kids,omitempty"`
	Any  any                     `json:"any,omitempty"`
	Deep map[string][]listOfTest `json:"deep,omitempty"`
	Raw  []byte                  `json:"raw,omitempty"`
	own  []int
}

func TestFillLists(t *testing.T) {
	v := listOfTest{
		Sub: &listOfTest{}, Map: map[string][]int{"x": nil}, Kids: []listOfTest{{}}, Any: listOfTest{},
		Deep: map[string][]listOfTest{"y": {{}}}, own: nil,
	}
	const none = `{"a":[],"null":null}`
	want := `{"a":[],"null":null,"sub":` + none + `,"map":{"x":[]},"kids":[` + none + `],"any":` + none + `,"deep":{"y":[` + none + `]}}`
	for _, x := range []any{FillLists(v), FillLists(&v)} {
		got, err := json.Marshal(x)
		if err != nil || string(got) != want {
			t.Errorf("%s, want %s (%v)", got, want, err)
		}
	}
	if got := FillLists(nil); got != nil {
		t.Errorf("nothing became %v", got)
	}
}
