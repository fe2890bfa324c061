"""The addresses of the API: each is declared once, with its handler and what the description says of it.

ROUTES = [
    get("/api/collections/{name}/map", get_map, "The pages of a map.", MAP, LIMIT, LINKS),
    post("/api/seeds", find_seeds, "Find pages to start from.", SEEDS, body=(TOPIC, SOURCE)),
]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from starlette.routing import BaseRoute, Route

from scenthound.desk.api_base import Handler, answers
from scenthound.desk.request_parameters import REQUIRED, Field, Items, Parameter
from scenthound.desk.shapes import TEXT, Shape, fields

JSON = "application/json"
ERROR = fields(error=TEXT, hint=TEXT)
ERRORS = {
    400: "What was asked can't be done; the error says why.",
    401: "The token is missing.",
    403: "A page of another site asked.",
    404: "There is no such thing.",
    409: "Another process uses the folder.",
    413: "Too much was sent.",
    421: "The address is not that of the desk.",
    500: "A disk or the system failed.",
    507: "There is no room left on the disk.",
}
OF_CHANGES = (401, 413)  # errors that only a change can meet


class Operation(Route):
    """A route of the API that describes itself."""

    def __init__(self, method: str, path: str, handler: Handler, described: dict[str, Any]) -> None:
        super().__init__(path, answers(handler), methods=[method])
        self.method, self.described = method, described


def get(
    path: str,
    handler: Handler,
    about: str,
    shape: Shape,
    *query: Parameter,
    kinds: Iterable[str] = (JSON,),
    inside: Mapping[str, Shape] | None = None,
    is_private: bool = False,
) -> Operation:
    """A question. `kinds` are the media types of the answer; `inside` are the shapes of parts of the path.

    `is_private`: it needs the token.
    """
    not_here = (413,) if is_private else OF_CHANGES
    described: dict[str, Any] = {
        "summary": about,
        "parameters": [*_path_parameters(path, inside or {}), *map(_query_parameter, query)],
        "responses": {
            "200": _answer(about, shape, kinds),
            **{str(code): _answer(words, ERROR) for code, words in ERRORS.items() if code not in not_here},
        },
    }
    if is_private:
        described["security"] = [{"token": []}]
    return Operation("GET", path, handler, described)


def post(
    path: str, handler: Handler, about: str, shape: Shape, body: tuple[Field | Items, ...] = (), code: int = 200
) -> Operation:
    """A change: it needs the token."""
    described = {
        "summary": about,
        "parameters": _path_parameters(path, {}),
        "security": [{"token": []}],
        "responses": {
            str(code): _answer(about, shape),
            **{str(error): _answer(words, ERROR) for error, words in ERRORS.items()},
        },
    }
    if body:
        required = [field.name for field in body if field.default is REQUIRED]
        sent = fields(required, **{field.name: field.shape for field in body})
        described["requestBody"] = {"required": True, "content": {JSON: {"schema": sent}}}
    return Operation("POST", path, handler, described)


def description(routes: Iterable[BaseRoute]) -> dict[str, Any]:
    """The description of these routes in OpenAPI 3.1."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        if isinstance(route, Operation):
            paths.setdefault(route.path, {})[route.method.lower()] = route.described
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Scenthound desk",
            "version": "1",
            "description": "Start, watch, steer and search crawls. Every change needs the token of the desk.",
        },
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "paths": paths,
    }


def _answer(about: str, shape: Shape, kinds: Iterable[str] = (JSON,)) -> dict[str, Any]:
    # Starlette names the encoding of every text
    content = {f"{kind}; charset=utf-8" if kind.startswith("text/") else kind: {"schema": shape} for kind in kinds}
    return {"description": about, "content": content}


def _path_parameters(path: str, inside: Mapping[str, Shape]) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": inside.get(name, TEXT)}
        for name in re.findall(r"{(\w+)}", path)
    ]


def _query_parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "query",
        "schema": parameter.shape,
        "description": parameter.about,
        "required": parameter.is_required,
    }
