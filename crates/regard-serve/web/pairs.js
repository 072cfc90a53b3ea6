// A few sentences of the demonstration's grammar and their one right translation, for measurements in the page.

/** @type {[string, string][]} */
export const PAIRS = [
    ['the black cat sleeps on the red chair', 'le chat noir dort sur la chaise rouge'],
    ['a small bird sings in the green garden', 'un petit oiseau chante dans le jardin vert'],
    ['my white horse runs toward the big house', 'mon cheval blanc court vers la grande maison'],
    ['the young hen follows this grey mouse', 'la jeune poule suit cette souris grise'],
    ['this pretty frog sees the white cow', 'cette jolie grenouille voit la vache blanche'],
    ['the good dog watches a black rabbit', 'le bon chien regarde un lapin noir'],
    ['a red bird falls on the small bridge', 'un oiseau rouge tombe sur le petit pont'],
    ['the grey cow likes my green garden', 'la vache grise aime mon jardin vert'],
    ['my big dog sleeps in the white house', 'mon grand chien dort dans la maison blanche'],
    ['the small black mouse finds a good bed', 'la petite souris noire trouve un bon lit'],
];
