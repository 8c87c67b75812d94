package report

import "reflect"

// FillLists returns v with an empty slice in place of each nil one, so that its JSON has a list where its
// schema promises one. A field tagged schema:"nullable" stays. What v points to is changed in place; the
// insides of types that write their own JSON stay as they are where fields are not exported.
func FillLists(v any) any {
	if v == nil {
		return nil
	}
	in := reflect.ValueOf(v)
	if in.Kind() == reflect.Pointer {
		fillLists(in)
		return v
	}
	at := reflect.New(in.Type()).Elem()
	at.Set(in)
	fillLists(at)
	return at.Interface()
}

// fillLists fills v, whose fields can be set.
func fillLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fillLists(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() && v.CanSet() {
			v.Set(reflect.ValueOf(FillLists(v.Interface())))
		}
	case reflect.Slice:
		if v.IsNil() && v.CanSet() && v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		fillElements(v)
	case reflect.Array:
		fillElements(v)
	case reflect.Map:
		fillMap(v)
	case reflect.Struct:
		t := v.Type()
		for i := range t.NumField() {
			if f := t.Field(i); (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" && f.Tag.Get("schema") != "nullable" {
				fillLists(v.Field(i))
			}
		}
	default: // plain values hold no lists
	}
}

// fillElements fills the elements of a list, unless they are plain values.
func fillElements(v reflect.Value) {
	if !holdsLists(v.Type().Elem()) {
		return
	}
	for i := range v.Len() {
		fillLists(v.Index(i))
	}
}

// fillMap fills the values of a map. They cannot be set, so each is replaced by a filled copy.
func fillMap(v reflect.Value) {
	if !holdsLists(v.Type().Elem()) {
		return
	}
	for _, key := range v.MapKeys() {
		at := reflect.New(v.Type().Elem()).Elem()
		at.Set(v.MapIndex(key))
		fillLists(at)
		v.SetMapIndex(key, at)
	}
}

// holdsLists reports whether a value of type t may have a slice in it.
func holdsLists(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map, reflect.Struct, reflect.Pointer, reflect.Interface:
		return true
	default:
		return false
	}
}
