package gallery

func componentStates() []State { return nil }
