package store

func child() {}
